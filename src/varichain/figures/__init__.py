"""Human figures: mechanisms with the masses, inertias and lengths of real people [NY, Fig. 16 and 19].

Sources of the numbers:

- [DELEVA] P. de Leva, Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters, J. Biomechanics 29(9),
  1223-1230, 1996: masses, inertias, lengths.
- [DRILLIS] R. Drillis, R. Contini, Body segment parameters, Report 1166-03, New York University, 1966; drawn in
  D. A. Winter, Biomechanics and Motor Control of Human Movement, Fig. 4.1: height of the ankle.
- [ANSUR] C. C. Gordon et al., 2012 Anthropometric survey of U.S. Army personnel, NATICK/TR-15/007, 2014: breadth of the
  shoulders.
- [HELM] F. C. T. van der Helm, A finite element musculoskeletal model of the shoulder mechanism, J. Biomechanics 27(5),
  551-569, 1994: masses of clavicle and scapula.
- [PALMER] C. E. Palmer, Studies of the center of gravity in the human body, Child Development 15, 99-180, 1944: what
  the tests compare the height of the centre of mass with.
"""

from varichain.figures.anthropometry import Body
from varichain.figures.human import human16, human40, standing_height

__all__ = ["Body", "human16", "human40", "standing_height"]

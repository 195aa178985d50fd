/* The library of compiled kernels as a Python module: one callable for each kernel, which checks its arguments.

   Built by tools/build_kernels.py, together with the object files of the kernels and "kernels.inc", which has a line
       KERNEL("varichain.kernels.totals.energy", entry, native, "codes of the result")
   for each. An entry takes words: a number, or the address of an array and its lengths (see ahead.py). This file is
   compiled for any processor of the platform: missing_features() can be asked before a kernel is run. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <stdint.h>

#define MOST_ARGUMENTS 48
#define MOST_DIMENSIONS 3
#define MOST_RESULTS 8

typedef int32_t (*Entry)(const int64_t *words, int64_t *results);
typedef struct { const char *name; Entry entry; void *native; const char *returned; } Compiled;

#define KERNEL(name, entry, native, returned) \
    extern int32_t entry(const int64_t *, int64_t *); extern char native[];
#include "kernels.inc"
#undef KERNEL
#define KERNEL(name, entry, native, returned) {name, entry, native, returned},
static const Compiled COMPILED[] = {
#include "kernels.inc"
    {NULL, NULL, NULL, NULL}
};
#undef KERNEL

/* What an argument must be: a number, if it has no dimensions, or a C-contiguous array. */
typedef struct { PyArray_Descr *dtype; int n_dims; int is_written; } Kind;

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    const Compiled *compiled;
    PyObject *dict; /* name and docstring, as of any function */
    Py_ssize_t n;
    Kind kinds[MOST_ARGUMENTS];
} Kernel;

/* Arguments */

/* Raise a TypeError that says what argument i should have been; returns -1. */
static int refuse(const Kernel *self, Py_ssize_t i, PyObject *given)
{
    const Kind *kind = &self->kinds[i];
    PyObject *found;
    if (PyArray_Check(given)) {
        PyArrayObject *array = (PyArrayObject *)given;
        found = PyUnicode_FromFormat("an array of %S with %d dimensions%s%s%s", PyArray_DESCR(array),
                                     PyArray_NDIM(array), PyArray_IS_C_CONTIGUOUS(array) ? "" : ", not contiguous",
                                     PyArray_ISBEHAVED_RO(array) ? "" : ", not aligned or of other byte order",
                                     PyArray_ISWRITEABLE(array) ? "" : ", read-only");
    } else {
        found = PyUnicode_FromString(Py_TYPE(given)->tp_name);
    }
    if (found == NULL)
        return -1;
    if (kind->n_dims == 0)
        PyErr_Format(PyExc_TypeError, "argument %zd of kernel %s must be %s, not %U", i + 1, self->compiled->name,
                     kind->dtype->type_num == NPY_DOUBLE ? "a number" : "an integer", found);
    else
        PyErr_Format(PyExc_TypeError, "argument %zd of kernel %s must be a C-contiguous%s array of %S with %d dimensions, not %U",
                     i + 1, self->compiled->name, kind->is_written ? ", writable" : "", kind->dtype, kind->n_dims, found);
    Py_DECREF(found);
    return -1;
}

static int read_integer(const Kernel *self, Py_ssize_t i, PyObject *given, int64_t *word)
{
    PyObject *integer = PyIndex_Check(given) && !PyArray_Check(given) ? PyNumber_Index(given) : NULL;
    if (integer == NULL)
        return PyErr_Occurred() ? -1 : refuse(self, i, given);
    *word = PyLong_AsLongLong(integer);
    Py_DECREF(integer);
    return *word == -1 && PyErr_Occurred() ? -1 : 0;
}

static int read_number(const Kernel *self, Py_ssize_t i, PyObject *given, int64_t *word)
{
    double number;
    if (PyFloat_Check(given))
        number = PyFloat_AS_DOUBLE(given);
    else if (PyLong_Check(given) || PyArray_IsScalar(given, Integer) || PyArray_IsScalar(given, Floating))
        number = PyFloat_AsDouble(given);
    else
        return refuse(self, i, given);
    if (number == -1.0 && PyErr_Occurred())
        return -1;
    memcpy(word, &number, sizeof number);
    return 0;
}

/* Words of an array; returns their number. */
static int read_array(const Kernel *self, Py_ssize_t i, PyObject *given, int64_t *words)
{
    const Kind *kind = &self->kinds[i];
    PyArrayObject *array = (PyArrayObject *)given;
    if (!PyArray_Check(given) || PyArray_NDIM(array) != kind->n_dims
        || !(kind->is_written ? PyArray_ISCARRAY(array) : PyArray_ISCARRAY_RO(array))
        || (PyArray_DESCR(array) != kind->dtype && !PyArray_EquivTypes(PyArray_DESCR(array), kind->dtype)))
        return refuse(self, i, given);
    words[0] = (int64_t)(intptr_t)PyArray_DATA(array);
    for (int k = 0; k < kind->n_dims; k++)
        words[1 + k] = PyArray_DIM(array, k);
    return 1 + kind->n_dims;
}

/* Calls */

static PyObject *result_from(const char *codes, const int64_t *words)
{
    PyObject *values[MOST_RESULTS];
    int n = 0;
    for (; codes[n] != '\0'; n++) {
        double number;
        memcpy(&number, &words[n], sizeof number);
        values[n] = codes[n] == 'i' ? PyLong_FromLongLong(words[n]) : PyFloat_FromDouble(number);
    }
    if (n == 0)
        Py_RETURN_NONE;
    if (n == 1)
        return values[0];
    PyObject *all = PyTuple_New(n);
    for (int i = 0; i < n; i++) {
        if (values[i] == NULL)
            Py_CLEAR(all);
        if (all != NULL)
            PyTuple_SET_ITEM(all, i, values[i]);
        else
            Py_XDECREF(values[i]);
    }
    return all;
}

static PyObject *call(PyObject *callable, PyObject *const *given, size_t flags, PyObject *names)
{
    const Kernel *self = (const Kernel *)callable;
    Py_ssize_t n = PyVectorcall_NARGS(flags);
    if (n != self->n || (names != NULL && PyTuple_GET_SIZE(names) != 0)) {
        PyErr_Format(PyExc_TypeError, "kernel %s takes %zd arguments by position, not %zd and %zd by name",
                     self->compiled->name, self->n, n, names == NULL ? 0 : PyTuple_GET_SIZE(names));
        return NULL;
    }
    int64_t words[MOST_ARGUMENTS * (1 + MOST_DIMENSIONS)], results[MOST_RESULTS];
    int place = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        int used = 1;
        if (self->kinds[i].n_dims > 0)
            used = read_array(self, i, given[i], words + place);
        else if ((self->kinds[i].dtype->type_num == NPY_DOUBLE ? read_number : read_integer)(self, i, given[i], words + place))
            used = -1;
        if (used < 0)
            return NULL;
        place += used;
    }
    int32_t status;
    Py_BEGIN_ALLOW_THREADS /* the caller holds all arrays */
    status = self->compiled->entry(words, results);
    Py_END_ALLOW_THREADS
    if (status != 0) /* kernels raise nothing by themselves; they may run out of memory */
        return PyErr_NoMemory();
    return result_from(self->compiled->returned, results);
}

/* The type */

/* Kernel(name, kinds): a kernel of the library, by name, and what its arguments must be. */
static PyObject *new(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    static char *keywords[] = {"name", "kinds", NULL};
    const char *name;
    PyObject *kinds;
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "sO!", keywords, &name, &PyTuple_Type, &kinds))
        return NULL;
    const Compiled *compiled = COMPILED;
    while (compiled->name != NULL && strcmp(compiled->name, name) != 0)
        compiled++;
    if (compiled->name == NULL)
        return PyErr_Format(PyExc_KeyError, "there is no kernel %s in this library", name);
    if (PyTuple_GET_SIZE(kinds) > MOST_ARGUMENTS || strlen(compiled->returned) > MOST_RESULTS)
        return PyErr_Format(PyExc_ValueError, "kernel %s has too many arguments or results", name);
    Kernel *self = (Kernel *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->call = call;
    self->compiled = compiled;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kinds); i++) {
        Kind *kind = &self->kinds[i];
        PyObject *item = PyTuple_GET_ITEM(kinds, i);
        if (!PyTuple_Check(item)
            || !PyArg_ParseTuple(item, "O!ip", &PyArrayDescr_Type, &kind->dtype, &kind->n_dims, &kind->is_written)) {
            kind->dtype = NULL;
            Py_DECREF(self);
            return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "a kind must be a tuple");
        }
        Py_INCREF(kind->dtype);
        self->n = i + 1;
        if (kind->n_dims < 0 || kind->n_dims > MOST_DIMENSIONS) {
            Py_DECREF(self);
            return PyErr_Format(PyExc_ValueError, "an array of a kernel has at most %d dimensions", MOST_DIMENSIONS);
        }
    }
    return (PyObject *)self;
}

static void dealloc(Kernel *self)
{
    PyTypeObject *type = Py_TYPE(self);
    for (Py_ssize_t i = 0; i < self->n; i++)
        Py_DECREF(self->kinds[i].dtype);
    Py_XDECREF(self->dict);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *get_address(Kernel *self, void *unused)
{
    return PyLong_FromVoidPtr(self->compiled->native);
}

static PyObject *get_returned(Kernel *self, void *unused)
{
    return PyUnicode_FromString(self->compiled->returned);
}

static PyObject *repr(Kernel *self)
{
    return PyUnicode_FromFormat("<kernel %s of the library>", self->compiled->name);
}

static PyMemberDef MEMBERS[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Kernel, call), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Kernel, dict), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}
};
static PyGetSetDef PROPERTIES[] = {
    {"address", (getter)get_address, NULL, "Address of the kernel, for kernels that call others.", NULL},
    {"returned", (getter)get_returned, NULL, "Codes of the result: i integer, d number.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}
};
/* Kernels live as long as the process: they take no part in the collection of cycles. */
static PyType_Slot SLOTS[] = {
    {Py_tp_new, new}, {Py_tp_dealloc, dealloc}, {Py_tp_call, PyVectorcall_Call}, {Py_tp_repr, repr},
    {Py_tp_members, MEMBERS}, {Py_tp_getset, PROPERTIES}, {0, NULL}
};
static PyType_Spec SPEC = {
    "varichain.kernels._library.Kernel", sizeof(Kernel), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, SLOTS
};

/* What kernels ask of Numba: memory with a count of its users, and other shapes of contiguous arrays */

typedef struct { size_t users; void *unused[2]; void *data; } Memory; /* Numba reads and writes these places */

void *NRT_MemInfo_alloc_aligned(size_t size, uint32_t alignment)
{
    if (size > PTRDIFF_MAX - sizeof(Memory) - alignment)
        return NULL;
    Memory *memory = malloc(sizeof(Memory) + alignment + size);
    if (memory != NULL) {
        uintptr_t after = (uintptr_t)(memory + 1);
        *memory = (Memory){1, {NULL, NULL}, (void *)(after + (alignment - after % alignment) % alignment)};
    }
    return memory;
}

void *NRT_MemInfo_data_fast(void *memory)
{
    return ((Memory *)memory)->data;
}

void NRT_MemInfo_call_dtor(void *memory)
{
    free(memory);
}

int numba_attempt_nocopy_reshape(intptr_t n, const intptr_t *lengths, const intptr_t *strides, intptr_t n_new,
                                 const intptr_t *new_lengths, intptr_t *new_strides, intptr_t size, int is_fortran)
{
    intptr_t items = size, expected = size;
    for (intptr_t i = n - 1; i >= 0; i--) {
        if (lengths[i] > 1 && strides[i] != expected)
            return 0;
        expected *= lengths[i];
    }
    for (intptr_t i = n_new - 1; i >= 0; i--) {
        new_strides[i] = items;
        items *= new_lengths[i];
    }
    return !is_fortran && items == expected;
}

/* The module */

static PyObject *missing_features(PyObject *module, PyObject *unused)
{
    PyObject *missing = PyList_New(0);
#define REQUIRE(feature) \
    if (missing != NULL && !__builtin_cpu_supports(feature)) { \
        PyObject *name = PyUnicode_FromString(feature); \
        if (name == NULL || PyList_Append(missing, name)) \
            Py_CLEAR(missing); \
        Py_XDECREF(name); \
    }
    FEATURES
    return missing;
}

static PyMethodDef METHODS[] = {
    {"missing_features", missing_features, METH_NOARGS, "Features that kernels need and this processor lacks."},
    {NULL, NULL, 0, NULL}
};
static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_library", "Compiled kernels.", -1, METHODS};

PyMODINIT_FUNC PyInit__library(void)
{
    import_array();
    PyObject *module = PyModule_Create(&MODULE), *type = NULL, *names = PyList_New(0);
    for (const Compiled *kernel = COMPILED; names != NULL && kernel->name != NULL; kernel++) {
        PyObject *name = PyUnicode_FromString(kernel->name);
        if (name == NULL || PyList_Append(names, name))
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    if (module == NULL || names == NULL || (type = PyType_FromSpec(&SPEC)) == NULL
        || PyModule_AddObjectRef(module, "KERNELS", names) || PyModule_AddObjectRef(module, "Kernel", type))
        Py_CLEAR(module);
    Py_XDECREF(type);
    Py_XDECREF(names);
    return module;
}

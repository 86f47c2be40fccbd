// Under a locale with a decimal comma, files and commands have the same bytes and the same meaning.
#include "support.h"

#include "rigor/rigor.h"
#include "view/view.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char rg_folder[] = "/tmp/rigor_locale_XXXXXX";

// A German locale of our own: none need be installed, but the sources of locales must be there.
static bool rgHaveComma(void) {
    static bool isMade;
    char command[256], digits[16];
    snprintf(command, sizeof(command),
             "localedef -i de_DE -f UTF-8 --no-archive %s/de_DE.UTF-8 >%s/log 2>&1", rg_folder,
             rg_folder);
    isMade = isMade || (system(command) == 0 && setenv("LOCPATH", rg_folder, 1) == 0);
    if (!isMade || setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
        return false;
    }
    snprintf(digits, sizeof(digits), "%g", 0.5);
    return strcmp(digits, "0,5") == 0;
}

static rgModelDef* rgMakeDef(void) {
    static const double corners[] = {0.1, 0,    0, -0.1, 0, 0,           0, 0.1, 0,
                                     0,   -0.1, 0, 0,    0, 0.123456789, 0, 0,   -0.1};
    static const int faces[] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4,
                                2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
    static const rgMeshData mesh = {6, corners, 8, faces};
    static const rgHeightFieldData field = {2, 2, 1.5, 2.5, 0.25, corners};
    rgModelDef* def = NULL;
    assert_int_equal(rgLoadModelDef("quadruped", NULL, NULL, &def), rg_ok);
    rgShapeDef shape = rgDefaultShapeDef();
    shape.body.index1 = 1;
    shape.kind = rg_shapeHull;
    shape.mesh = &mesh;
    shape.rounding = 0.0625;
    shape.color[1] = 0.375F;
    assert_int_equal(rgModelDef_AddShape(def, &shape, NULL), rg_ok);
    shape.visualOnly = true;
    assert_int_equal(rgModelDef_AddShape(def, &shape, NULL), rg_ok);
    shape = rgDefaultShapeDef();
    shape.kind = rg_shapeHeightField;
    shape.heightField = &field;
    assert_int_equal(rgModelDef_AddShape(def, &shape, NULL), rg_ok);
    return def;
}

static char* rgReadAll(const char* path) {
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    char* text = calloc(1, 1 << 20);
    size_t count = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    assert_true(count > 0);
    return text;
}

typedef struct rgTexts {
    char *mjcf, *urdf, *scene;
} rgTexts;

static rgTexts rgWriteAll(void) {
    rgTexts texts = {0};
    rgModelDef* def = rgMakeDef();
    rgModel* model = NULL;
    char path[64];
    snprintf(path, sizeof(path), "%s/a.xml", rg_folder);
    assert_int_equal(rgSaveMjcf(def, path, NULL), rg_ok);
    texts.mjcf = rgReadAll(path);
    snprintf(path, sizeof(path), "%s/a.urdf", rg_folder);
    assert_int_equal(rgSaveUrdf(def, path, NULL), rg_ok);
    texts.urdf = rgReadAll(path);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    assert_int_equal(rgDescribeModel(model, NULL, &texts.scene), rg_ok);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    return texts;
}

static double rgMassOf(const char* text) {
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    assert_int_equal(rgParseModelDef(text, strlen(text), "text", NULL, NULL, &def), rg_ok);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    double mass = rgModel_Info(model).mass;
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    return mass;
}

static void test_files(void** state) {
    (void)state;
    rgTexts plain = rgWriteAll();
    double mass = rgMassOf(plain.mjcf);
    if (!rgHaveComma()) {
        setlocale(LC_ALL, "C");
        print_message("no locale with a comma can be made here\n");
    } else {
        rgTexts comma = rgWriteAll();
        assert_true(rgMassOf(plain.mjcf) == mass);
        setlocale(LC_ALL, "C");
        assert_string_equal(comma.mjcf, plain.mjcf);
        assert_string_equal(comma.urdf, plain.urdf);
        assert_string_equal(comma.scene, plain.scene);
        free(comma.mjcf);
        free(comma.urdf);
        free(comma.scene);
    }
    free(plain.mjcf);
    free(plain.urdf);
    free(plain.scene);
}

static void test_commands(void** state) {
    (void)state;
    static const char text[] = "{\"do\":\"friction\",\"value\":0.375}";
    rgViewerCommand command;
    bool comma = rgHaveComma();
    const char* fault = rgReadCommand(text, strlen(text), &command);
    setlocale(LC_ALL, "C");
    assert_null(fault);
    assert_true(command.number == 0.375);
    (void)comma;
}

static void test_messages(void** state) {
    (void)state;
    rgDiagnostics* said = NULL;
    rgModelDef* def = NULL;
    static const char text[] =
        "<mujoco><worldbody><body><geom size='0.1' friction='-0.25'/></body></worldbody></mujoco>";
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    rgHaveComma();
    rgResult result = rgParseModelDef(text, strlen(text), "text", NULL, said, &def);
    setlocale(LC_ALL, "C");
    assert_int_not_equal(result, rg_ok);
    bool found = false;
    for (int i = 0; i < rgDiagnostics_Count(said); ++i) {
        found = found || strstr(rgDiagnostics_Message(said, i).text, "-0.25") != NULL;
    }
    assert_true(found);
    rgDestroyDiagnostics(said);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_messages),
    };
    if (mkdtemp(rg_folder) == NULL) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", rg_folder);
    return system(command) != 0 || failed;
}

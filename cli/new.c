// rigor new NAME: a small project that runs: a scene, a C and a Python program, and build files.
#include "cli.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RG_NEW_NAME_LIMIT 64

// %s is the name of the project.
static const char sceneText[] =
    "<mujoco model=\"%s\">\n"
    "  <!-- An arm of two links over a table with a box that it can push. -->\n"
    "  <option timestep=\"0.001\"/>\n"
    "  <default>\n"
    "    <joint type=\"hinge\" axis=\"0 1 0\" damping=\"0.5\" armature=\"0.05\"/>\n"
    "    <geom friction=\"0.6\"/>\n"
    "  </default>\n"
    "  <worldbody>\n"
    "    <geom name=\"table\" type=\"plane\" size=\"2 2 1\" rgba=\"0.8 0.8 0.8 1\"/>\n"
    "    <body name=\"upper\" pos=\"0 0 0.5\">\n"
    "      <joint name=\"shoulder\" range=\"-120 120\"/>\n"
    "      <geom type=\"capsule\" fromto=\"0 0 0 0.4 0 0\" size=\"0.04\" mass=\"1\"\n"
    "            rgba=\"0.3 0.4 0.7 1\"/>\n"
    "      <body name=\"lower\" pos=\"0.4 0 0\">\n"
    "        <joint name=\"elbow\" range=\"-150 150\"/>\n"
    "        <geom type=\"capsule\" fromto=\"0 0 0 0.3 0 0\" size=\"0.03\" mass=\"0.5\"\n"
    "              rgba=\"0.8 0.35 0.25 1\"/>\n"
    "        <site name=\"tip\" pos=\"0.33 0 0\"/>\n"
    "      </body>\n"
    "    </body>\n"
    "    <body name=\"box\" pos=\"0.55 0 0.05\">\n"
    "      <freejoint/>\n"
    "      <geom type=\"box\" size=\"0.05 0.05 0.05\" mass=\"0.2\" rgba=\"0.9 0.75 0.3 1\"/>\n"
    "    </body>\n"
    "  </worldbody>\n"
    "  <actuator>\n"
    "    <position name=\"shoulder\" joint=\"shoulder\" kp=\"100\" kv=\"10\"/>\n"
    "    <position name=\"elbow\" joint=\"elbow\" kp=\"50\" kv=\"5\"/>\n"
    "  </actuator>\n"
    "  <sensor>\n"
    "    <framepos name=\"tip\" objtype=\"site\" objname=\"tip\"/>\n"
    "  </sensor>\n"
    "</mujoco>\n";

static const char programText[] =
    "// %s: moves the arm onto the box and prints the contact force on it.\n"
    "#include <rigor/rigor.h>\n"
    "\n"
    "#include <stdio.h>\n"
    "\n"
    "static int stop(const char* what, rgDiagnostics* diagnostics) {\n"
    "    for (int i = 0; i < rgDiagnostics_Count(diagnostics); ++i) {\n"
    "        rgMessage message = rgDiagnostics_Message(diagnostics, i);\n"
    "        fprintf(stderr, \"%%s:%%d: %%s\\n\", message.file ? message.file : what, "
    "message.line,\n"
    "                message.text);\n"
    "    }\n"
    "    return 1;\n"
    "}\n"
    "\n"
    "int main(int argc, char** argv) {\n"
    "    rgDiagnostics* diagnostics;\n"
    "    rgModel* model;\n"
    "    rgWorld* world;\n"
    "    rgLoadDef load = rgDefaultLoadDef();\n"
    "    rgWorldDef settings = rgDefaultWorldDef();\n"
    "    const char* path = argc > 1 ? argv[1] : \"scene.xml\";\n"
    "    rgCreateDiagnostics(NULL, &diagnostics);\n"
    "    if (rgLoadModel(path, &load, diagnostics, &model) != rg_ok ||\n"
    "        rgCreateWorld(model, &settings, diagnostics, &world) != rg_ok) {\n"
    "        return stop(path, diagnostics);\n"
    "    }\n"
    "    rgBodyId box = rgModel_FindBody(model, \"box\");\n"
    "    rgSensorId tip = rgModel_FindSensor(model, \"tip\");\n"
    "    for (int i = 0; i <= 2000; ++i) {\n"
    "        double control[2] = {0.9 * i / 2000, 0.6 * i / 2000};\n"
    "        rgWorld_SetControl(world, control);\n"
    "        if (rgWorld_Step(world, NULL) != rg_ok) {\n"
    "            return stop(path, diagnostics);\n"
    "        }\n"
    "        if (i %% 200 == 0) {\n"
    "            const double* x =\n"
    "                rgWorld_Sensors(world, NULL) + rgWorld_SensorStart(world, tip);\n"
    "            rgVec3 force = rgWorld_ContactForce(world, box);\n"
    "            printf(\"%%.2f s: tip at %%.3f %%.3f %%.3f m, force on the box %%.2f %%.2f %%.2f "
    "N\\n\",\n"
    "                   rgWorld_Time(world), x[0], x[1], x[2], force.x, force.y, force.z);\n"
    "        }\n"
    "    }\n"
    "    rgDestroyWorld(world);\n"
    "    rgDestroyModel(model);\n"
    "    rgDestroyDiagnostics(diagnostics);\n"
    "    return 0;\n"
    "}\n";

static const char scriptText[] =
    "\"\"\"%s: moves the arm onto the box, records it, and draws the end.\"\"\"\n"
    "\n"
    "import pathlib\n"
    "\n"
    "import numpy as np\n"
    "\n"
    "import rigor\n"
    "\n"
    "here = pathlib.Path(__file__).parent\n"
    "model = rigor.load(here / \"scene.xml\")\n"
    "world = rigor.World(model)\n"
    "with world.record(here / \"motion.h5\"):\n"
    "    for target in np.linspace((0, 0), (0.9, 0.6), 100):\n"
    "        world.step(20, ctrl=target)\n"
    "print(\"tip at\", world.sensor(\"tip\"), \"m\")\n"
    "print(\"force on the box\", world.contact_force(\"box\"), \"N\")\n"
    "camera = rigor.Camera(model, eye=(1.2, -1.6, 0.9), target=(0.4, 0, 0.2), shadows=True)\n"
    "camera.draw(world).save(here / \"end.png\")\n"
    "rigor.save_page(here / \"motion.h5\", here / \"motion.html\")\n"
    "print(\"open end.png and motion.html\")\n";

static const char buildText[] =
    "cmake_minimum_required(VERSION 3.22)\n"
    "project(%s LANGUAGES C)\n"
    "find_package(rigor REQUIRED) # -DCMAKE_PREFIX_PATH=PREFIX where rigor is installed elsewhere\n"
    "add_executable(main main.c)\n"
    "target_compile_features(main PRIVATE c_std_17)\n"
    "target_link_libraries(main PRIVATE rigor::rigor)\n";

static const char readmeText[] =
    "# %s\n"
    "\n"
    "- `scene.xml`: an arm, a table and a box. `rigor check scene.xml` describes it,\n"
    "  `rigor view scene.xml` shows it.\n"
    "- `run.py`: `python run.py` simulates it, writes `end.png`, `motion.h5` and `motion.html`.\n"
    "- `main.c`: `cmake -B build && cmake --build build && build/main` does it in C.\n";

typedef struct rgNewFile {
    const char* name;
    const char* text;
} rgNewFile;

static const rgNewFile newFiles[] = {
    {"scene.xml", sceneText},      {"main.c", programText},   {"run.py", scriptText},
    {"CMakeLists.txt", buildText}, {"README.md", readmeText},
};

// Names are those that CMake accepts for a target and every shell leaves as they are.
static bool rgNewName_IsGood(const char* name) {
    size_t length = strlen(name);
    bool good = length > 0 && length <= RG_NEW_NAME_LIMIT && name[0] != '-';
    for (size_t i = 0; i < length; ++i) {
        char c = name[i];
        good = good && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-');
    }
    return good;
}

static bool rgNewFile_Write(const char* folder, const rgNewFile* file) {
    char path[RG_NEW_NAME_LIMIT + 32];
    snprintf(path, sizeof(path), "%s/%s", folder, file->name);
    FILE* out = fopen(path, "wx");
    bool good = out != NULL;
    // Every %s of a text is the name; %% is a percent sign.
    for (const char* c = file->text; good && *c != '\0'; ++c) {
        bool escape = c[0] == '%' && (c[1] == 's' || c[1] == '%');
        int put = !escape ? fputc(*c, out) : c[1] == 's' ? fputs(folder, out) : fputc('%', out);
        good = put != EOF;
        c += escape;
    }
    if (out != NULL && fclose(out) != 0) {
        good = false;
    }
    if (!good) {
        rgCli_Error("%s: %s", path, strerror(errno));
    }
    return good;
}

int rgCli_New(int argc, char** argv) {
    const rgCommand command = {
        .name = "rigor new",
        .usage = "NAME",
        .summary =
            "Write a small project into the folder NAME: a scene, a C program, a Python "
            "program and build files.\n\nExamples:\n  rigor new arm\n  rigor view arm/scene.xml",
        .minArguments = 1,
        .maxArguments = 1,
    };
    int count = 0;
    int code = rgParseOptions(&command, argc, argv, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    const char* name = argv[1];
    if (!rgNewName_IsGood(name)) {
        rgCli_Error("'%s' is not a project name; use up to %d letters, digits, '_' and '-'", name,
                    RG_NEW_NAME_LIMIT);
        return rg_exitUsage;
    }
    if (mkdir(name, 0777) != 0) {
        rgCli_Error("%s: %s", name, strerror(errno));
        return rg_exitUsage;
    }
    for (size_t i = 0; i < sizeof(newFiles) / sizeof(newFiles[0]); ++i) {
        if (!rgNewFile_Write(name, &newFiles[i])) {
            return rg_exitUsage;
        }
        printf("%s/%s\n", name, newFiles[i].name);
    }
    printf("next: cd %s; rigor view scene.xml, or python run.py\n", name);
    return rg_exitDone;
}

// Machine, compiler and build of a measurement.
#include "machine.h"

#include <math.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

// The text after "key: " or "key=" in a file of lines; quotes are left out.
static void rgReadLine(const char* path, const char* key, char* text, size_t size) {
    FILE* file = fopen(path, "r");
    char line[256];
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        const char* value = strpbrk(line, ":=");
        if (strncmp(line, key, strlen(key)) == 0 && value != NULL) {
            value += 1 + strspn(value + 1, " \"");
            snprintf(text, size, "%.*s", (int)strcspn(value, "\"\n"), value);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

rgMachine rgReadMachine(void) {
    rgMachine machine = {.processor = "unknown",
                         .system = "unknown",
                         .coreCount = (int)sysconf(_SC_NPROCESSORS_ONLN),
                         .compiler = __VERSION__,
                         .flags = RIGOR_FLAGS,
                         .commit = RIGOR_COMMIT};
    struct utsname name;
    char release[64] = "";
    rgReadLine("/proc/cpuinfo", "model name", machine.processor, sizeof(machine.processor));
    rgReadLine("/etc/os-release", "PRETTY_NAME", release, sizeof(release));
    if (uname(&name) == 0) {
        snprintf(machine.system, sizeof(machine.system), "%s%s%.30s %.30s", release,
                 release[0] != '\0' ? ", " : "", name.sysname, name.machine);
    }
    return machine;
}

double rgMachineLoad(void) {
    double load = NAN;
    FILE* file = fopen("/proc/loadavg", "r");
    if (file != NULL && fscanf(file, "%lf", &load) != 1) {
        load = NAN;
    }
    if (file != NULL) {
        fclose(file);
    }
    return load;
}

void rgJson_Build(rgJson* json) {
    rgMachine machine = rgReadMachine();
    rgJson_BeginObject(json, "build");
    rgJson_String(json, "commit", machine.commit);
    rgJson_String(json, "compiler", machine.compiler);
    rgJson_String(json, "flags", machine.flags);
    rgJson_String(json, "processor", machine.processor);
    rgJson_String(json, "system", machine.system);
    rgJson_Int(json, "cores", machine.coreCount);
    rgJson_EndObject(json);
}

// A folder of its own for a test program: group setup and teardown, and paths in it.
#pragma once

int rgMakeTestFolder(void** state);
int rgRemoveTestFolder(void** state);
const char* rgTestPath(const char* name); // valid until the next call

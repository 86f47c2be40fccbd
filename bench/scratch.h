// A folder for files that an experiment needs for itself, and the program that makes some of them.
#pragma once

char* rgMakeScratch(void); // to be removed; NULL after a message
void rgRemoveScratch(char* folder);

// The program `rigor`: beside this one, or in the folder bin of the same tree; NULL: not there. The
// caller frees it.
char* rgFindProgram(void);

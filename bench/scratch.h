// A folder for files that an experiment needs for itself.
#pragma once

char* rgMakeScratch(void); // to be removed; NULL after a message
void rgRemoveScratch(char* folder);

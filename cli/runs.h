// Several runs of one verb from a JSON file of options.
#pragma once
#include "cli.h"

// Called for each run with the arguments that a command line would have; argv[0] is the verb.
typedef int rgRunFcn(int argc, char** argv);

// The file holds an array of runs, or an object with "runs" and "defaults". A run is an object of
// options without their dashes; "files" is a file or a list of files, each a text or an object with
// "file" and options of that file. The options of the command line come first. Prints an array
// around JSON summaries. Returns the largest exit code.
int rgRunAll(const char* path, int argc, char** argv, bool json, rgRunFcn* run);

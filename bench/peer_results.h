// Engines that are ahead of rigor, in words: for the conclusion above a table.
#pragma once
#include <stdbool.h>

typedef struct rgPeerResults {
    char text[900]; // "Bullet 10 iterations (2.8 times as fast, falls), ..."
    int count;      // in it
    int total;      // that were compared
} rgPeerResults;

// Compare a rate of ours with another's; remark may be NULL. Rates that are not positive numbers do
// not count.
void rgPeerResults_Add(rgPeerResults* rivals, const char* who, double own, double other,
                       const char* remark);
// The text, or "none".
const char* rgPeerResults_Text(const rgPeerResults* rivals);

// Which degrees of freedom tendons and actuators act on.
#include "model/model.h"

#include <string.h>

static int rgPointLink(const rgModel* model, const rgTendonPoint* point) {
    return point->kind == rg_pointShape ? model->shapePlaces[point->shape.index1 - 1].link
                                        : model->framePlaces[point->frame.index1 - 1].link;
}

// Degrees of freedom that move one link and not the other change their distance.
static void rgMarkPair(const rgModel* model, int linkA, int linkB, bool* marks) {
    const int links[2] = {linkA, linkB};
    for (int i = 0; i < 2; ++i) {
        const rgLink* link = &model->links[links[i]];
        int last = links[i] > 0 && link->vCount > 0 ? link->v + link->vCount - 1 : -1;
        for (int k = last; k >= 0; k = model->dofs[k].parent) {
            marks[k] = !marks[k];
        }
    }
}

static void rgMarkOnce(const rgModel* model, int linkA, int linkB, bool* pair, bool* marks) {
    memset(pair, 0, (size_t)model->vCount * sizeof(bool));
    rgMarkPair(model, linkA, linkB, pair);
    for (int i = 0; i < model->vCount; ++i) {
        marks[i] = marks[i] || pair[i];
    }
}

static void rgMarkTendon(const rgModel* model, const rgTendonDef* tendon, bool* pair, bool* marks) {
    for (int k = 0; k < tendon->jointCount; ++k) {
        marks[model->jointRanges[tendon->joints[k].index1 - 1].v] = true;
    }
    for (int k = 0; k + 1 < tendon->pointCount; ++k) {
        const rgTendonPoint* point = &tendon->points[k];
        if (point->kind == rg_pointPulley || point[1].kind == rg_pointPulley) {
            continue;
        }
        rgMarkOnce(model, rgPointLink(model, point), rgPointLink(model, point + 1), pair, marks);
        if (point[1].kind == rg_pointShape) { // it may not be in the way
            rgMarkOnce(model, rgPointLink(model, point), rgPointLink(model, point + 2), pair,
                       marks);
        }
    }
}

static int rgListMarks(const rgModel* model, bool* marks, int* columns) {
    int count = 0;
    for (int i = 0; i < model->vCount; ++i) {
        if (marks[i] && columns != NULL) {
            columns[count] = i;
        }
        count += marks[i];
        marks[i] = false;
    }
    return count;
}

static void rgMarkActuator(const rgModel* model, const rgActuatorDef* actuator, bool* pair,
                           bool* marks) {
    if (actuator->joint.index1 > 0) {
        const rgJointRange* range = &model->jointRanges[actuator->joint.index1 - 1];
        for (int k = 0; k < range->vCount; ++k) {
            marks[range->v + k] = true;
        }
    } else if (actuator->tendon.index1 > 0) {
        rgMarkTendon(model, &model->tendons[actuator->tendon.index1 - 1], pair, marks);
    } else {
        int other =
            actuator->slider.index1 > 0 ? actuator->slider.index1 : actuator->reference.index1;
        rgMarkOnce(model, other > 0 ? model->framePlaces[other - 1].link : 0,
                   model->framePlaces[actuator->frame.index1 - 1].link, pair, marks);
    }
}

// Two rounds: how many, and which.
static bool rgBuildColumns(rgCompiler* compiler, bool drives, int count, int** starts,
                           int** columns) {
    rgModel* model = compiler->model;
    bool* marks = rgCompiler_Allocate(compiler, 2 * model->vCount, sizeof(bool));
    *starts = rgCompiler_Allocate(compiler, count + 1, sizeof(int));
    for (int round = 0; round < 2 && !compiler->outOfMemory; ++round) {
        for (int i = 0; i < count; ++i) {
            bool* pair = marks + model->vCount;
            if (drives) {
                rgMarkActuator(model, &model->actuators[i], pair, marks);
            } else {
                rgMarkTendon(model, &model->tendons[i], pair, marks);
            }
            int* out = round > 0 ? *columns + (*starts)[i] : NULL;
            (*starts)[i + 1] = (*starts)[i] + rgListMarks(model, marks, out);
        }
        if (round == 0) {
            *columns = rgCompiler_Allocate(compiler, (*starts)[count], sizeof(int));
        }
    }
    return !compiler->outOfMemory;
}

bool rgBuildTransmissions(rgCompiler* compiler) {
    rgModel* model = compiler->model;
    return rgBuildColumns(compiler, false, model->info.tendonCount, &model->tendonStart,
                          &model->tendonColumns) &&
           rgBuildColumns(compiler, true, model->info.actuatorCount, &model->driveStart,
                          &model->driveColumns);
}

// Kinds of parts that definitions and models hold.
#pragma once

typedef enum rgPartKind {
    rg_partBody,
    rg_partJoint,
    rg_partShape,
    rg_partFrame,
    rg_partTendon,
    rg_partActuator,
    rg_partEquality,
    rg_partSensor,
    rg_partKey,
    rg_partKindCount,
} rgPartKind;

// Everything that rigor offers.
#pragma once
#include "rigor/base.h"
#include "rigor/math.h"
#include "rigor/contact.h"
#include "rigor/shape.h"
#include "rigor/mesh.h"
#include "rigor/collision.h"
#include "rigor/inertia.h"
#include "rigor/model.h"
#include "rigor/dynamics.h"
#include "rigor/world.h"
#include "rigor/fclib.h"
#include "rigor/io.h"

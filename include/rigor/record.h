// Recordings: states, forces and contacts of a world, step by step, in an HDF5 file. See
// docs/formats/recording.md.
#pragma once
#include "rigor/world.h"

/// Start from rgDefaultRecorderDef(), then set members.
typedef struct rgRecorderDef {
    const char* path;      ///< of the file, which is replaced; no link, and no other recorder's
    const char* title;     ///< shown by viewers; NULL: the model's name
    const char* arguments; ///< how the run was started, one argument per line; NULL: unknown
    const rgModelDef* def; ///< of the world's model, kept as MJCF text; NULL: without
    int interval;          ///< steps of which one is kept; 1 by default
    double flushSeconds;   ///< the file is whole up to then after a crash; 0.5 by default
    int compression;       ///< 0 none to 9; 1 by default
    rgAllocator allocator; ///< zero means the C runtime; used by two threads
    uint32_t cookie;
} rgRecorderDef;

/// Writes one file from a thread of its own. Debian's libhdf5 is not for several threads at a time:
/// between rgRecorder_Flush() and the next rgRecorder_Add() other HDF5 files may be read and
/// written, at other times not, and there is one recorder at a time.
typedef struct rgRecorder rgRecorder;

RG_API rgRecorderDef rgDefaultRecorderDef(void);
RG_API rgResult rgCreateRecorder(const rgRecorderDef* def, const rgWorld* world,
                                 rgDiagnostics* diagnostics, rgRecorder** recorder);
/// Keep the state, contacts and report of the step just made; the report is NULL at the start. Any
/// fault of the writing thread comes back here, and nothing more is written after it: on a full
/// disk the file is whole up to there.
RG_API rgResult rgRecorder_Add(rgRecorder* recorder, const rgWorld* world,
                               const rgStepReport* report);
/// Return when all frames added so far are in the file.
RG_API rgResult rgRecorder_Flush(rgRecorder* recorder);
/// Flush and close. Faults are in the diagnostics of create, which must still exist.
RG_API rgResult rgRecorder_Finish(rgRecorder* recorder);
RG_API void rgDestroyRecorder(rgRecorder* recorder); ///< finishes as well

/// A file opened for reading. One thread at a time.
typedef struct rgRecording rgRecording;

/// Views that live as long as the recording.
typedef struct rgRecordingInfo {
    const char* title;
    const char* mjcf;      ///< the model's definition; "" when it was not kept
    const char* scene;     ///< JSON: bodies, joints and geometry, all that a picture needs
    const char* arguments; ///< one per line; "" when unknown
    double timeStep;       ///< [s] of the simulation
    int interval;          ///< steps of which one was kept
    int64_t frameCount;
    int64_t contactCount; ///< of all frames
    int qCount, vCount, controlCount, sensorCount;
    bool isComplete;     ///< it was closed; false after a crash, or while it is written
    int revision;        ///< RG_PHYSICS_REVISION of the program that made it; 0: it does not say
    int kinematicCount;  ///< kinematic bodies whose poses it holds: all of the model's, or none
    int activationCount; ///< one per actuator, or none
} rgRecordingInfo;

typedef struct rgRecordedContact {
    rgBodyId bodyA, bodyB; ///< null: the world, which is never B
    rgShapeId shapeA, shapeB;
    uint32_t feature;
    rgVec3 point, normal; ///< in single precision, as force, gap and mu
    rgVec3 force;         ///< on B [N]
    double gap;           ///< [m]
    double mu;
    rgContactState state;
} rgRecordedContact;

/// One kept step. Arrays are views until the next call.
typedef struct rgRecordedFrame {
    double time;
    const double *q, *v, *control, *sensors;
    double residual;
    int iterationCount;
    rgContactStatus status;
    int regularizedRows;
    double kineticEnergy, potentialEnergy;
    double stageSeconds[RG_STAGE_CAPACITY];
    uint64_t hash;  ///< of time, q and v of this frame and all before it
    rgVec3 gravity; ///< [m/s^2]
    int contactCount;
    const rgRecordedContact* contacts;
    const rgPose* kinematic; ///< poses of kinematic bodies, in the order of the bodies
    const double* activation;
} rgRecordedFrame;

/// Open a recording, complete or not: rows that were flushed before a crash are there. Trusts
/// libhdf5 with the bytes, as rgLoadFclib() does.
RG_API rgResult rgLoadRecording(const char* path, const rgAllocator* allocator,
                                rgDiagnostics* diagnostics, rgRecording** recording);
RG_API void rgDestroyRecording(rgRecording* recording);
RG_API rgRecordingInfo rgRecording_Info(const rgRecording* recording);
/// A frame from 0. Neighbours are read together: go forwards where you can.
RG_API rgResult rgRecording_Frame(rgRecording* recording, int64_t index, rgRecordedFrame* frame);

/// Bodies, joints and geometry of a model as JSON text, for viewers; the caller releases it with
/// the allocator (NULL: free()). The format is in docs/formats/recording.md.
RG_API rgResult rgDescribeModel(const rgModel* model, const rgAllocator* allocator, char** json);

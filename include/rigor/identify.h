// Identification: parameters of a model from recorded motions, with their bounds.
// See docs/theory/identify.md.
#pragma once
#include "rigor/batch.h"

/// A number of a model that is to be found, and where to look for it. Start from
/// rgDefaultParameterDef().
typedef struct rgParameterDef {
    const char* name;    ///< KIND/NAME/FIELD, such as "body/cube/com.z"; NAME "*": all of the kind
    double lower, upper; ///< bounds
    double start;        ///< NAN: that of the definition, moved into the bounds
    double prior;        ///< mean of a normal prior, with
    double deviation;    ///< its standard deviation; 0: none
    bool logarithmic;    ///< looked for in equal ratios; the lower bound is above 0
    uint32_t cookie;
} rgParameterDef;

/// A field of a kind of part that can be found, for help texts.
typedef struct rgParameterField {
    const char* kind; ///< such as "body"
    const char* field;
    const char* unit;
    const char* meaning;
} rgParameterField;

typedef enum rgChannelKind {
    rg_channelPose,       ///< of a body in the world: x y z qw qx qy qz
    rg_channelCoordinate, ///< one number of q of a joint without quaternions
} rgChannelKind;

/// Measured quantity of a recording.
typedef struct rgChannel {
    rgChannelKind kind;
    rgBodyId body;  ///< pose
    int coordinate; ///< index into q
} rgChannel;

/// A recorded motion: the state that it starts from and its measurements. rgLoadMotion() makes one
/// from a file; a program may fill its own.
typedef struct rgMotion {
    const char* name;
    int sampleCount;     ///< at least 2
    const double* times; ///< rising [s]; the first is that of the start
    int channelCount;
    const rgChannel* channels;
    int valueCount;         ///< numbers of a sample: 7 per pose, 1 per coordinate
    const double* values;   ///< sampleCount x valueCount; NAN: not measured
    const double* q;        ///< start, nq
    const double* v;        ///< nv
    const double* controls; ///< sampleCount x actuators, each row until the next; NULL: none
} rgMotion;

/// How a file is read. Start from rgDefaultMotionDef().
typedef struct rgMotionDef {
    bool backwardVelocities; ///< velocities of the file are means over the interval that ends at
                             ///< the sample: half an interval of gravity is added
    rgAllocator allocator;
    uint32_t cookie;
} rgMotionDef;

typedef enum rgLoss {
    rg_lossHuber,  ///< squares up to the limit, then straight on
    rg_lossSquare, ///< squares
    rg_lossCauchy, ///< logarithm: outliers hardly count
} rgLoss;

/// Derivatives of the refinement.
typedef enum rgIdentifySlopes {
    rg_slopesAuto,        ///< of steps, unless a motion begins to touch something
    rg_slopesSteps,       ///< chained along one simulation, of numbers that steps have them of
    rg_slopesDifferences, ///< of simulations, two for each unknown
} rgIdentifySlopes;

/// Where the work of rgIdentify() is.
typedef enum rgIdentifyStage {
    rg_identifySearch,
    rg_identifyRefine,
    rg_identifyFolds,
    rg_identifyStageCount
} rgIdentifyStage;

/// Called by the thread of rgIdentify() now and then; false ends it with rg_errorArgument.
typedef bool rgIdentifyProgressFcn(rgIdentifyStage stage, int done, int total, double cost,
                                   void* context);

/// Start from rgDefaultIdentifyDef(), then set members.
typedef struct rgIdentifyDef {
    int parameterCount;
    const rgParameterDef* parameters;
    int motionCount;
    const rgMotion* motions;
    rgWorldDef world;       ///< of the simulations; samples between steps are interpolated
    double positionNoise;   ///< [m] in which errors of positions are counted; 1 mm
    double rotationNoise;   ///< [rad]; 1 degree
    double coordinateNoise; ///< [rad] or [m] of coordinates; 0.01
    rgLoss loss;
    double lossLimit;     ///< in units of the noises; 1
    double startPosition; ///< standard deviation of each motion's start [m]; 0: it is exact
    double startRotation; ///< standard deviation of the angle of the start [rad]
    double startVelocity; ///< [m/s]
    double startRate;     ///< [rad/s]
    double startWindow;   ///< [s]: each start is found from the samples up to then that come
                          ///< before the first contact, with held-out motions too; 0: from all
                          ///< samples, together with the parameters
    int generations;      ///< of the search; 0: none. 40
    int population;       ///< candidates of each; 0: 4 + 3 ln of the number of parameters, even
    int searchMotions;    ///< motions of the search, spread over all; 0: all. 64
    double searchStep;    ///< first step, in units of the bounds' width; 0.2
    int refinements;      ///< steps of Gauss and Newton, at most; 8. With more motions
                          ///< than searchMotions, so many with these and a third with all
    rgIdentifySlopes slopes;
    double differenceStep; ///< of the differences, in units of the bounds' width; 0.02. A quarter
                           ///< of it, twice, where that leads no further
    int foldCount;         ///< of the cross-validation; 0: none
    int bootstrapCount;    ///< of the intervals; 0: none. 1000
    uint64_t seed;         ///< of the search and the bootstrap
    rgTasks tasks;         ///< zero: the calling thread does all. The bits do not depend on it.
    rgAllocator allocator; ///< called by all threads; zero means the C runtime
    rgIdentifyProgressFcn* progress;
    void* context; ///< of progress
    uint32_t cookie;
} rgIdentifyDef;

/// Estimate of one parameter, with its bounds.
typedef struct rgParameterEstimate {
    const char* name;
    const char* unit;
    double start, value;
    double deviation;    ///< standard deviation, by bootstrap over the motions; NAN: not known
    double lower, upper; ///< 95 % interval, by bootstrap; NAN: not known
    double determined;   ///< 0 to 1: share of the variance within the bounds that the motions take
    bool atBound;
} rgParameterEstimate;

/// Mean errors over the samples of a motion; NAN where nothing was measured.
typedef struct rgMotionError {
    double position;   ///< [m]
    double rotation;   ///< [rad]
    double coordinate; ///< [rad] or [m]
    double cost;       ///< minimized cost; INFINITY: the simulation failed
} rgMotionError;

typedef struct rgMotionEstimate {
    const char* name;
    int fold; ///< in which it was held out; -1: none
    int sampleCount;
    rgMotionError before;  ///< with the parameters' start values, from the recorded start or that
                           ///< of the window
    rgMotionError after;   ///< with the values that were found, from the start of `before`
    rgMotionError adapted; ///< with the values that were found, from the start found with them
    rgMotionError heldOut; ///< with the values found without it, from the recorded start or that of
                           ///< the window
    const double *q, *v;   ///< the start that was found
} rgMotionEstimate;

typedef struct rgIdentificationInfo {
    int parameterCount, motionCount, foldCount;
    int simulationCount;     ///< roll-outs of one motion with one set of parameters
    double costBefore, cost; ///< with the start values, and with those found
    rgMotionError before;    ///< means over the motions, as the next three
    rgMotionError after;     ///<
    rgMotionError adapted;   ///<
    rgMotionError heldOut;   ///< of the cross-validation
    int undeterminedCount;   ///< parameters whose share is below one half
    bool converged;          ///< the refinement ended since a step of a thousandth of the bounds
                             ///< gained less than a thousandth, or since none was better
} rgIdentificationInfo;

/// The answer. Views live as long as it does.
typedef struct rgIdentification rgIdentification;

RG_API rgParameterDef rgDefaultParameterDef(void);
RG_API rgMotionDef rgDefaultMotionDef(void);
RG_API rgIdentifyDef rgDefaultIdentifyDef(void);

/// All fields, by index from 0; false past the last.
RG_API bool rgParameterFieldAt(int index, rgParameterField* field);
/// Value of a parameter in a definition, such as "joint/knee/damping"; for "*" that of the first
/// part.
RG_API rgResult rgModelDef_ParameterValue(const rgModelDef* def, const char* name, double* value,
                                          rgDiagnostics* diagnostics);
/// Set it, in all parts that it names.
RG_API rgResult rgModelDef_SetParameter(rgModelDef* def, const char* name, double value,
                                        rgDiagnostics* diagnostics);

/// Read a motion of a model: a CSV file, or a recording of ours (HDF5). See
/// docs/formats/motion.md.
RG_API rgResult rgLoadMotion(const char* path, const rgModel* model, const rgMotionDef* def,
                             rgDiagnostics* diagnostics, rgMotion** motion);
RG_API void rgDestroyMotion(rgMotion* motion); ///< of rgLoadMotion() only

/// Find the parameters of a definition. It stays as it is: rgIdentification_Apply() changes one.
RG_API rgResult rgIdentify(const rgModelDef* model, const rgIdentifyDef* def,
                           rgDiagnostics* diagnostics, rgIdentification** identification);
RG_API void rgDestroyIdentification(rgIdentification* identification);
/// Set the fitted values in a definition.
RG_API rgResult rgIdentification_Apply(const rgIdentification* identification, rgModelDef* model);

RG_API rgIdentificationInfo rgIdentification_Info(const rgIdentification* identification);
RG_API rgParameterEstimate rgIdentification_Parameter(const rgIdentification* identification,
                                                      int parameter);
/// Estimate without the motions of one fold.
RG_API double rgIdentification_FoldValue(const rgIdentification* identification, int fold,
                                         int parameter);
RG_API rgMotionEstimate rgIdentification_Motion(const rgIdentification* identification, int motion);
/// Directions in the space of parameters, in units of the bounds' widths, from the best determined
/// to the worst: one number per parameter, of length 1. The strength is the inverse of the standard
/// deviation that the motions leave along it; below 3.5, which is that of the bounds, they say
/// less than the bounds do.
RG_API const double* rgIdentification_Direction(const rgIdentification* identification, int index,
                                                double* strength);

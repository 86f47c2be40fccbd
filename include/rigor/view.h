// Pictures of simulations: pages that play a recording by themselves, and a server that shows a
// recording or a running world in a browser. See docs/viewer.md.
#pragma once
#include "rigor/record.h"

/// True if the library was built with the page, which needs Node; without it calls of this header
/// return rg_errorUnsupported.
RG_API bool rgHasPage(void);
/// True if it was built with the server, which needs the page and libmicrohttpd.
RG_API bool rgHasViewer(void);

/// Start from rgDefaultPageDef(), then set members. NULL means the default.
typedef struct rgPageDef {
    double framesPerSecond; ///< kept of the recording; 0: all. 60 by default
    rgRecording* ghost;     ///< drawn see-through beside it, at the same time; NULL: none
    uint32_t cookie;
} rgPageDef;

RG_API rgPageDef rgDefaultPageDef(void);
/// Write one HTML file that plays the recording in any browser, offline.
RG_API rgResult rgRecording_SavePage(rgRecording* recording, const rgPageDef* def, const char* path,
                                     rgDiagnostics* diagnostics);

/// Start from rgDefaultViewerDef(), then set members. NULL means the default.
typedef struct rgViewerDef {
    const char* title;
    const char* address;        ///< to listen on; NULL: 127.0.0.1, for this machine alone
    int port;                   ///< 0: any that is free
    const char* const* solvers; ///< names that a page may select, NULL at the end; NULL: any
    rgAllocator allocator;
    uint32_t cookie;
} rgViewerDef;

/// A server with threads of its own. Clients that are slow, hostile or many cost the simulation
/// nothing but the copy of a frame.
typedef struct rgViewer rgViewer;

RG_API rgViewerDef rgDefaultViewerDef(void);
RG_API rgResult rgCreateViewer(const rgViewerDef* def, rgDiagnostics* diagnostics,
                               rgViewer** viewer);
RG_API void rgDestroyViewer(rgViewer* viewer);
RG_API int rgViewer_Port(const rgViewer* viewer);
RG_API int rgViewer_ClientCount(const rgViewer* viewer); ///< that get frames of a running world

/// Show a recording, or the model of a world whose frames will follow. May be called again, as when
/// bodies were added.
RG_API rgResult rgViewer_ShowRecording(rgViewer* viewer, rgRecording* recording,
                                       const rgPageDef* def);
RG_API rgResult rgViewer_ShowWorld(rgViewer* viewer, const rgWorld* world);

/// Numbers that the page shows beside the world.
typedef struct rgViewerState {
    double realTime; ///< simulated over real time
    bool isPaused;
    bool isStopped; ///< paused by itself: at an anomaly, or a step that was not solved
} rgViewerState;

/// Send the state, contacts and report to all clients; 60 times a second is enough. The report may
/// be NULL. Clients that have not yet taken the last frame get this one instead.
RG_API rgResult rgViewer_Update(rgViewer* viewer, const rgWorld* world, const rgStepReport* report,
                                const rgViewerState* state);

typedef enum rgViewerCommandKind {
    rg_commandNone,
    rg_commandPause,
    rg_commandPlay,
    rg_commandStep,
    rg_commandReset,     ///< number: key from 0; negative: the start
    rg_commandGravity,   ///< point
    rg_commandFriction,  ///< number
    rg_commandStiffness, ///< number
    rg_commandTimeStep,  ///< number
    rg_commandSpeed,     ///< number, times real time
    rg_commandSolver,    ///< text
    rg_commandDrag,      ///< body, point of it in its frame, target in the world
    rg_commandRelease,   ///< of the dragged or pushed body
    rg_commandDrop,      ///< text "ball" or "box", number: radius or half side, point
    rg_commandPose,      ///< index into q, number
    rg_commandControl,   ///< index of the actuator from 0, number
    rg_commandWrench, ///< body, force and torque at its center of mass in world axes: point, target
    rg_commandWatch,  ///< number: 1 to pause at anomalies and unsolved steps, 0 not to
} rgViewerCommandKind;

/// Command of a user of the page. Numbers are within bounds that a simulation can bear, bodies,
/// keys and coordinates are the world's of rgViewer_ShowWorld(): the page was answered with an
/// error else.
typedef struct rgViewerCommand {
    rgViewerCommandKind kind;
    double number;
    int index;
    rgBodyId body;
    rgVec3 point, target;
    char text[16];
} rgViewerCommand;

/// The next command in the order of arrival; false when there is none.
RG_API bool rgViewer_NextCommand(rgViewer* viewer, rgViewerCommand* command);

/// Called by a thread of the server with a PNG file; the bytes are lent.
typedef void rgPictureFcn(int index, const void* bytes, size_t byteCount, void* context);

/// Pictures that a page opened with "#render" makes of the recording and sends back.
typedef struct rgPictureDef {
    int count;
    const double* times; ///< [s]
    int width, height;
    rgPictureFcn* picture;
    void* context;
} rgPictureDef;

RG_API rgResult rgViewer_RequestPictures(rgViewer* viewer, const rgPictureDef* def);

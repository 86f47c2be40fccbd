// The server: one page, one scene, frames as server-sent events, commands by POST. It answers only
// to addresses of this machine and to pages that it served itself.
#include "view/view.h"

#include <stdio.h>
#include <string.h>

rgViewerDef rgDefaultViewerDef(void) {
    return (rgViewerDef){.cookie = RG_COOKIE_VIEWER};
}

#ifdef RIGOR_HAVE_MICROHTTPD
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    rg_connectionLimit = 256,
    rg_clientLimit = 224,       // clients that get frames; further connections serve other requests
    rg_idleSeconds = 20,        // idle time of a client that neither sends nor receives
    rg_requestSeconds = 10,     // from the connection to the end of a request
    rg_answerSeconds = 300,     // to the end of its answer, unless that is frames
    rg_headerBytes = 32 << 10,  // size of a request, and of the buffer of an answer
    rg_commandBytes = 16 << 10, // size of a POST
    rg_pictureBytes = 128 << 20, // size of a requested picture
    rg_commandCount = 256,       // queued commands
};

// Text of one event, shared by the clients that are sending it.
typedef struct rgEvent {
    int users;
    uint64_t number;
    rgBytes text;
} rgEvent;

typedef struct rgClient {
    rgViewer* viewer;
    struct MHD_Connection* connection;
    struct rgClient *next, *previous;
    rgEvent* event; // being sent
    size_t sent;
    uint64_t seen;
    bool isWaiting; // suspended until there is a new event
} rgClient;

// A connection, which has one request: all that it may take is bounded in time.
typedef struct rgVisit {
    struct rgVisit *next, *previous;
    int socket;
    double begin;   // [s]
    bool isRequest; // the request is complete
    bool isClient;  // gets frames as long as it likes
} rgVisit;

struct rgViewer {
    rgAllocator allocator;
    struct MHD_Daemon* daemon;
    pid_t process;   // that has the threads
    pthread_t watch; // ends visits that take too long
    bool isWatched;
    pthread_cond_t wake; // wakes the watch at the end
    rgVisit* visits;
    int bodyCount, keyCount, qCount, actuatorCount; // sizes of the running world
    const char* const* solvers;                     // NULL: any name
    int port;
    char* title;
    pthread_mutex_t mutex; // for all that follows
    rgBytes scene, ghost;  // gzip
    int generation;
    bool isLive;
    rgEvent* event; // the newest
    uint64_t eventNumber;
    rgBytes scratch;
    rgClient* clients;
    int clientCount;
    bool isClosing;
    rgViewerCommand commands[rg_commandCount];
    int commandHead, commandTail;
    rgPictureDef pictures;
    double* times;
};

bool rgHasViewer(void) {
    return rgHasPage();
}

// ---- events ----

static void rgDropEvent(rgViewer* viewer, rgEvent* event) {
    if (event != NULL && --event->users == 0) {
        rgBytes_Free(&event->text);
        rgRelease(&viewer->allocator, event);
    }
}

static void rgWakeClients(rgViewer* viewer) {
    for (rgClient* c = viewer->clients; c != NULL; c = c->next) {
        if (c->isWaiting) {
            c->isWaiting = false;
            MHD_resume_connection(c->connection);
        }
    }
}

// Send a client the rest of its event, then the newest data.
static ssize_t rgSendEvent(void* context, uint64_t position, char* buffer, size_t room) {
    (void)position;
    rgClient* c = context;
    rgViewer* viewer = c->viewer;
    ssize_t count = 0;
    pthread_mutex_lock(&viewer->mutex);
    if (c->event == NULL && viewer->event != NULL && viewer->event->number > c->seen) {
        c->event = viewer->event;
        c->event->users += 1;
        c->seen = c->event->number;
        c->sent = 0;
    }
    if (viewer->isClosing) {
        count = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (c->event == NULL) {
        c->isWaiting = true;
        MHD_suspend_connection(c->connection);
    } else {
        size_t left = c->event->text.size - c->sent;
        count = (ssize_t)RG_MIN(left, room);
        memcpy(buffer, c->event->text.data + c->sent, (size_t)count);
        c->sent += (size_t)count;
        if (c->sent == c->event->text.size) {
            rgDropEvent(viewer, c->event);
            c->event = NULL;
        }
    }
    pthread_mutex_unlock(&viewer->mutex);
    return count;
}

static void rgRemoveClient(void* context) {
    rgClient* c = context;
    rgViewer* viewer = c->viewer;
    pthread_mutex_lock(&viewer->mutex);
    rgDropEvent(viewer, c->event);
    if (c->previous != NULL) {
        c->previous->next = c->next;
    } else {
        viewer->clients = c->next;
    }
    if (c->next != NULL) {
        c->next->previous = c->previous;
    }
    viewer->clientCount -= 1;
    pthread_mutex_unlock(&viewer->mutex);
    rgRelease(&viewer->allocator, c);
}

static struct MHD_Response* rgOpenEvents(rgViewer* viewer, struct MHD_Connection* connection) {
    rgClient* c = rgAllocate(&viewer->allocator, 1, sizeof(rgClient));
    if (c == NULL) {
        return NULL;
    }
    c->viewer = viewer;
    c->connection = connection;
    struct MHD_Response* response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, 64 << 10, rgSendEvent, c, rgRemoveClient);
    if (response == NULL) {
        rgRelease(&viewer->allocator, c);
        return NULL;
    }
    pthread_mutex_lock(&viewer->mutex);
    c->next = viewer->clients;
    if (c->next != NULL) {
        c->next->previous = c;
    }
    viewer->clients = c;
    viewer->clientCount += 1;
    pthread_mutex_unlock(&viewer->mutex);
    MHD_add_response_header(response, "Content-Type", "text/event-stream");
    return response;
}

// ---- visits ----

static void rgNoteConnection(void* context, struct MHD_Connection* connection, void** state,
                             enum MHD_ConnectionNotificationCode code) {
    rgViewer* viewer = context;
    const union MHD_ConnectionInfo* info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    pthread_mutex_lock(&viewer->mutex);
    rgVisit* visit = *state;
    if (code == MHD_CONNECTION_NOTIFY_STARTED && info != NULL) {
        visit = rgAllocate(&viewer->allocator, 1, sizeof(rgVisit));
        if (visit != NULL) {
            visit->socket = info->connect_fd;
            visit->begin = rgSeconds();
            visit->next = viewer->visits;
            if (visit->next != NULL) {
                visit->next->previous = visit;
            }
            viewer->visits = visit;
        }
        *state = visit;
    } else if (code == MHD_CONNECTION_NOTIFY_CLOSED && visit != NULL) {
        *(visit->previous != NULL ? &visit->previous->next : &viewer->visits) = visit->next;
        if (visit->next != NULL) {
            visit->next->previous = visit->previous;
        }
        rgRelease(&viewer->allocator, visit);
        *state = NULL;
    }
    pthread_mutex_unlock(&viewer->mutex);
}

// The request is complete; a client of frames may stay.
static void rgVisit_Mark(rgViewer* viewer, struct MHD_Connection* connection, bool isClient) {
    const union MHD_ConnectionInfo* info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    pthread_mutex_lock(&viewer->mutex);
    rgVisit* visit = info != NULL ? info->socket_context : NULL;
    if (visit != NULL) {
        visit->isRequest = true;
        visit->isClient = isClient;
    }
    pthread_mutex_unlock(&viewer->mutex);
}

// Ends visits whose time is over, however steadily they drip: idle ones end by the server's own
// limit. The socket is closed by the server, which sees its end.
static void* rgWatchVisits(void* context) {
    rgViewer* viewer = context;
    pthread_mutex_lock(&viewer->mutex);
    while (!viewer->isClosing) {
        double now = rgSeconds();
        for (rgVisit* visit = viewer->visits; visit != NULL; visit = visit->next) {
            double limit = visit->isRequest ? rg_answerSeconds : rg_requestSeconds;
            if (!visit->isClient && now - visit->begin > limit) {
                shutdown(visit->socket, SHUT_RDWR);
            }
        }
        struct timespec when;
        clock_gettime(CLOCK_REALTIME, &when);
        when.tv_sec += 1;
        pthread_cond_timedwait(&viewer->wake, &viewer->mutex, &when);
    }
    pthread_mutex_unlock(&viewer->mutex);
    return NULL;
}

// ---- answers ----

typedef struct rgRequest {
    rgBytes body;
    bool isTooLarge;
} rgRequest;

static enum MHD_Result rgAnswer(struct MHD_Connection* connection, unsigned status,
                                struct MHD_Response* response) {
    if (response == NULL) {
        return MHD_NO;
    }
    MHD_add_response_header(response, "Connection", "close");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(
        response, "Content-Security-Policy",
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "connect-src 'self'; img-src data: blob:; media-src blob:; frame-ancestors 'none'; "
        "base-uri 'none'; form-action 'none'");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result rgAnswerText(struct MHD_Connection* connection, unsigned status,
                                    const char* text) {
    struct MHD_Response* response = MHD_create_response_from_buffer(
        strlen(text), (void*)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    if (response != NULL) {
        MHD_add_response_header(response, "Content-Type", "text/plain; charset=utf-8");
    }
    return rgAnswer(connection, status, response);
}

static enum MHD_Result rgAnswerPage(struct MHD_Connection* connection) {
    struct MHD_Response* response = MHD_create_response_from_buffer(
        rgPageByteCount, (void*)(uintptr_t)rgPageBytes, MHD_RESPMEM_PERSISTENT);
    if (response != NULL) {
        MHD_add_response_header(response, "Content-Type", "text/html; charset=utf-8");
        MHD_add_response_header(response, "Content-Encoding", "gzip");
    }
    return rgAnswer(connection, MHD_HTTP_OK, response);
}

static enum MHD_Result rgAnswerScene(rgViewer* viewer, struct MHD_Connection* connection,
                                     const rgBytes* scene) {
    pthread_mutex_lock(&viewer->mutex);
    struct MHD_Response* response =
        scene->size > 0
            ? MHD_create_response_from_buffer(scene->size, scene->data, MHD_RESPMEM_MUST_COPY)
            : NULL;
    pthread_mutex_unlock(&viewer->mutex);
    if (response == NULL) {
        return rgAnswerText(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "There is no scene yet.");
    }
    MHD_add_response_header(response, "Content-Type", "application/octet-stream");
    MHD_add_response_header(response, "Content-Encoding", "gzip");
    return rgAnswer(connection, MHD_HTTP_OK, response);
}

static enum MHD_Result rgHandlePictureRequests(rgViewer* viewer,
                                               struct MHD_Connection* connection) {
    rgBytes text = {.allocator = viewer->allocator};
    char part[64];
    pthread_mutex_lock(&viewer->mutex);
    rgBytes_Add(&text, "{\"times\":[", 10);
    for (int i = 0; i < viewer->pictures.count; ++i) {
        int length = rgPrint(part, sizeof(part), "%s%.9g", i > 0 ? "," : "", viewer->times[i]);
        rgBytes_Add(&text, part, (size_t)length);
    }
    int length = snprintf(part, sizeof(part), "],\"width\":%d,\"height\":%d}",
                          viewer->pictures.width, viewer->pictures.height);
    rgBytes_Add(&text, part, (size_t)length);
    pthread_mutex_unlock(&viewer->mutex);
    struct MHD_Response* response =
        text.failed ? NULL
                    : MHD_create_response_from_buffer(text.size, text.data, MHD_RESPMEM_MUST_COPY);
    rgBytes_Free(&text);
    if (response != NULL) {
        MHD_add_response_header(response, "Content-Type", "application/json");
    }
    return rgAnswer(connection, MHD_HTTP_OK, response);
}

// ---- POST ----

static bool rgHasType(struct MHD_Connection* connection, const char* type) {
    const char* found = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Type");
    return found != NULL && strncmp(found, type, strlen(type)) == 0;
}

// Refuse commands for parts that the running world lacks. The mutex is held.
static const char* rgRefuseForWorld(const rgViewer* viewer, const rgViewerCommand* command) {
    const char* const* solver = viewer->solvers;
    switch (command->kind) {
    case rg_commandDrag:
    case rg_commandWrench:
        return command->body.index1 > viewer->bodyCount ? "There is no such body." : NULL;
    case rg_commandReset:
        return command->number >= viewer->keyCount ? "There is no such key frame." : NULL;
    case rg_commandPose:
        return command->index >= viewer->qCount ? "There is no such coordinate." : NULL;
    case rg_commandControl:
        return command->index >= viewer->actuatorCount ? "There is no such actuator." : NULL;
    case rg_commandSolver:
        while (solver != NULL && *solver != NULL && strcmp(*solver, command->text) != 0) {
            ++solver;
        }
        return solver != NULL && *solver == NULL ? "There is no such solver." : NULL;
    default:
        return NULL;
    }
}

static enum MHD_Result rgHandlePost(rgViewer* viewer, struct MHD_Connection* connection,
                                    const rgBytes* body) {
    rgViewerCommand command;
    if (!rgHasType(connection, "application/json")) {
        return rgAnswerText(connection, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
                            "Commands are application/json.");
    }
    const char* fault = rgReadCommand((const char*)body->data, body->size, &command);
    if (fault != NULL) {
        return rgAnswerText(connection, MHD_HTTP_BAD_REQUEST, fault);
    }
    pthread_mutex_lock(&viewer->mutex);
    fault = viewer->isLive ? rgRefuseForWorld(viewer, &command) : NULL;
    bool room = fault == NULL && viewer->isLive &&
                viewer->commandHead - viewer->commandTail < rg_commandCount;
    if (room) {
        viewer->commands[viewer->commandHead++ % rg_commandCount] = command;
    }
    bool isLive = viewer->isLive;
    pthread_mutex_unlock(&viewer->mutex);
    if (fault != NULL) {
        return rgAnswerText(connection, MHD_HTTP_BAD_REQUEST, fault);
    }
    if (!isLive) {
        return rgAnswerText(connection, MHD_HTTP_CONFLICT, "A recording accepts no commands.");
    }
    return room ? rgAnswerText(connection, MHD_HTTP_OK, "")
                : rgAnswerText(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                               "Too many commands are pending.");
}

// Copies that the server's threads may read: the caller's may change them at any time.
static rgPictureDef rgViewer_Pictures(rgViewer* viewer) {
    pthread_mutex_lock(&viewer->mutex);
    rgPictureDef pictures = viewer->pictures;
    pthread_mutex_unlock(&viewer->mutex);
    return pictures;
}

static bool rgViewer_IsLive(rgViewer* viewer) {
    pthread_mutex_lock(&viewer->mutex);
    bool isLive = viewer->isLive;
    pthread_mutex_unlock(&viewer->mutex);
    return isLive;
}

static enum MHD_Result rgTakePicture(rgViewer* viewer, struct MHD_Connection* connection,
                                     const rgBytes* body) {
    const char* text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "index");
    rgPictureDef pictures = rgViewer_Pictures(viewer);
    int index = -1;
    if (text == NULL || sscanf(text, "%9d", &index) != 1 || index < 0 || index >= pictures.count ||
        pictures.picture == NULL) {
        return rgAnswerText(connection, MHD_HTTP_BAD_REQUEST, "No such picture was requested.");
    }
    pictures.picture(index, body->data, body->size, pictures.context);
    return rgAnswerText(connection, MHD_HTTP_OK, "");
}

// ---- requests ----

// "localhost", an IPv4 or a bracketed IPv6 address, then maybe a port: names that resolve to this
// machine only by someone else's name server are refused.
static bool rgIsOwnHost(const char* host) {
    char name[64];
    if (host == NULL) {
        return false;
    }
    size_t length = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (length >= sizeof(name) || length > strlen(host)) {
        return false;
    }
    memcpy(name, host, length);
    name[length] = '\0';
    struct in_addr four;
    struct in6_addr six;
    if (name[0] == '[') {
        name[length - 1] = '\0';
        return inet_pton(AF_INET6, name + 1, &six) == 1;
    }
    return strcmp(name, "localhost") == 0 || inet_pton(AF_INET, name, &four) == 1;
}

static bool rgIsOwnOrigin(struct MHD_Connection* connection, const char* host) {
    const char* origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
    return origin == NULL || (strncmp(origin, "http://", 7) == 0 && strcmp(origin + 7, host) == 0);
}

static size_t rgBodyLimit(rgViewer* viewer, const char* url) {
    return strcmp(url, "/picture") == 0 && rgViewer_Pictures(viewer).count > 0
               ? (size_t)rg_pictureBytes
               : (size_t)rg_commandBytes;
}

static enum MHD_Result rgRoute(rgViewer* viewer, struct MHD_Connection* connection, const char* url,
                               bool isPost, const rgRequest* request) {
    if (isPost && request->isTooLarge) {
        return rgAnswerText(connection, 413, "The request is too large.");
    }
    if (isPost && strcmp(url, "/command") == 0) {
        return rgHandlePost(viewer, connection, &request->body);
    }
    if (isPost && strcmp(url, "/picture") == 0 && rgViewer_Pictures(viewer).count > 0) {
        return rgTakePicture(viewer, connection, &request->body);
    }
    if (isPost) {
        return rgAnswerText(connection, MHD_HTTP_NOT_FOUND, "This address accepts no commands.");
    }
    if (strcmp(url, "/") == 0) {
        return rgAnswerPage(connection);
    }
    if (strcmp(url, "/scene.bin") == 0) {
        return rgAnswerScene(viewer, connection, &viewer->scene);
    }
    if (strcmp(url, "/ghost.bin") == 0) {
        return rgAnswerScene(viewer, connection, &viewer->ghost);
    }
    if (strcmp(url, "/events") == 0 && rgViewer_ClientCount(viewer) >= rg_clientLimit) {
        return rgAnswerText(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                            "Too many viewers are connected.");
    }
    if (strcmp(url, "/events") == 0 && rgViewer_IsLive(viewer)) {
        rgVisit_Mark(viewer, connection, true);
        return rgAnswer(connection, MHD_HTTP_OK, rgOpenEvents(viewer, connection));
    }
    if (strcmp(url, "/render") == 0 && rgViewer_Pictures(viewer).count > 0) {
        return rgHandlePictureRequests(viewer, connection);
    }
    return rgAnswerText(connection, MHD_HTTP_NOT_FOUND, "There is no such page.");
}

static enum MHD_Result rgHandle(void* context, struct MHD_Connection* connection, const char* url,
                                const char* method, const char* version, const char* data,
                                size_t* dataSize, void** state) {
    (void)version;
    rgViewer* viewer = context;
    rgRequest* request = *state;
    if (request == NULL) {
        request = rgAllocate(&viewer->allocator, 1, sizeof(rgRequest));
        *state = request;
        if (request != NULL) {
            request->body.allocator = viewer->allocator;
        }
        return request != NULL ? MHD_YES : MHD_NO;
    }
    if (*dataSize > 0) {
        request->isTooLarge =
            request->isTooLarge || request->body.size + *dataSize > rgBodyLimit(viewer, url);
        if (!request->isTooLarge) {
            rgBytes_Add(&request->body, data, *dataSize);
        }
        *dataSize = 0;
        return request->body.failed ? MHD_NO : MHD_YES;
    }
    rgVisit_Mark(viewer, connection, false);
    const char* host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    if (!rgIsOwnHost(host) || !rgIsOwnOrigin(connection, host)) {
        return rgAnswerText(
            connection, MHD_HTTP_FORBIDDEN,
            "Requests are accepted only from pages of this server, at an address of this machine.");
    }
    bool isPost = strcmp(method, "POST") == 0;
    if (!isPost && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        return rgAnswerText(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
                            "Only GET and POST are supported.");
    }
    return rgRoute(viewer, connection, url, isPost, request);
}

static void rgEndRequest(void* context, struct MHD_Connection* connection, void** state,
                         enum MHD_RequestTerminationCode code) {
    (void)connection;
    (void)code;
    rgViewer* viewer = context;
    rgRequest* request = *state;
    if (request != NULL) {
        rgBytes_Free(&request->body);
        rgRelease(&viewer->allocator, request);
        *state = NULL;
    }
}

// The library never prints.
static void rgIgnoreLog(void* context, const char* format, va_list arguments) {
    (void)context;
    (void)format;
    (void)arguments;
}

// ---- life ----

static bool rgListen(rgViewer* viewer, const rgViewerDef* def, rgDiagnostics* diagnostics) {
    const char* address = def->address != NULL ? def->address : "127.0.0.1";
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)def->port)};
    if (inet_pton(AF_INET, address, &place.sin_addr) != 1) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "'%s' is not an IPv4 address to listen on", address);
        return false;
    }
    errno = 0;
    viewer->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO | MHD_ALLOW_SUSPEND_RESUME,
        (uint16_t)def->port, NULL, NULL, rgHandle, viewer, MHD_OPTION_EXTERNAL_LOGGER, rgIgnoreLog,
        NULL, MHD_OPTION_SOCK_ADDR, (struct sockaddr*)&place, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)rg_connectionLimit, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)rg_idleSeconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)rg_headerBytes, MHD_OPTION_NOTIFY_COMPLETED,
        rgEndRequest, viewer, MHD_OPTION_NOTIFY_CONNECTION, rgNoteConnection, viewer,
        MHD_OPTION_END);
    if (viewer->daemon == NULL) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "cannot listen on %s, port %d%s%s", address, def->port,
                          errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
        return false;
    }
    const union MHD_DaemonInfo* info =
        MHD_get_daemon_info(viewer->daemon, MHD_DAEMON_INFO_BIND_PORT);
    viewer->port = info != NULL ? info->port : def->port;
    return true;
}

rgResult rgCreateViewer(const rgViewerDef* def, rgDiagnostics* diagnostics, rgViewer** viewer) {
    rgViewerDef usual = rgDefaultViewerDef();
    const rgViewerDef* used = def != NULL ? def : &usual;
    if (viewer == NULL || used->cookie != RG_COOKIE_VIEWER || used->port < 0 ||
        used->port > 65535) {
        return rg_errorArgument;
    }
    if (!rgHasViewer()) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "rigor was built without the viewer's page, which needs Node and npm");
        return rg_errorUnsupported;
    }
    rgViewer* made = rgAllocate(&used->allocator, 1, sizeof(rgViewer));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->allocator = rgResolveAllocator(&used->allocator);
    made->scene.allocator = made->ghost.allocator = made->scratch.allocator = made->allocator;
    made->title = rgCopyString(&made->allocator, used->title);
    made->solvers = used->solvers;
    made->process = getpid();
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->wake, NULL);
    made->isWatched = pthread_create(&made->watch, NULL, rgWatchVisits, made) == 0;
    if (!made->isWatched || !rgListen(made, used, diagnostics)) {
        rgDestroyViewer(made);
        return rg_errorFile;
    }
    *viewer = made;
    return rg_ok;
}

void rgDestroyViewer(rgViewer* viewer) {
    if (viewer == NULL || viewer->process != getpid()) {
        return; // a child of fork() has none of the server's threads, which may hold its memory
    }
    pthread_mutex_lock(&viewer->mutex);
    viewer->isClosing = true;
    rgWakeClients(viewer);
    pthread_cond_signal(&viewer->wake);
    pthread_mutex_unlock(&viewer->mutex);
    if (viewer->isWatched) {
        pthread_join(viewer->watch, NULL);
    }
    if (viewer->daemon != NULL) {
        MHD_stop_daemon(viewer->daemon);
    }
    rgDropEvent(viewer, viewer->event);
    rgBytes_Free(&viewer->scene);
    rgBytes_Free(&viewer->ghost);
    rgBytes_Free(&viewer->scratch);
    pthread_mutex_destroy(&viewer->mutex);
    pthread_cond_destroy(&viewer->wake);
    rgAllocator allocator = viewer->allocator;
    rgRelease(&allocator, viewer->title);
    rgRelease(&allocator, viewer->times);
    rgRelease(&allocator, viewer);
}

int rgViewer_Port(const rgViewer* viewer) {
    return viewer != NULL ? viewer->port : 0;
}

int rgViewer_ClientCount(const rgViewer* viewer) {
    if (viewer == NULL) {
        return 0;
    }
    rgViewer* shared = (rgViewer*)(uintptr_t)viewer;
    pthread_mutex_lock(&shared->mutex);
    int count = shared->clientCount;
    pthread_mutex_unlock(&shared->mutex);
    return count;
}

// ---- shown models ----

// Exchange the shown bytes for others, and release the old.
static void rgSetScene(rgViewer* viewer, rgBytes scene, rgBytes ghost, bool isLive) {
    pthread_mutex_lock(&viewer->mutex);
    rgBytes oldScene = viewer->scene, oldGhost = viewer->ghost;
    viewer->scene = scene;
    viewer->ghost = ghost;
    viewer->generation += oldScene.size > 0;
    viewer->isLive = isLive;
    pthread_mutex_unlock(&viewer->mutex);
    rgBytes_Free(&oldScene);
    rgBytes_Free(&oldGhost);
}

rgResult rgViewer_ShowRecording(rgViewer* viewer, rgRecording* recording, const rgPageDef* def) {
    rgPageDef usual = rgDefaultPageDef();
    const rgPageDef* used = def != NULL ? def : &usual;
    if (viewer == NULL || recording == NULL || used->cookie != RG_COOKIE_PAGE) {
        return rg_errorArgument;
    }
    rgBytes scene = {.allocator = viewer->allocator}, ghost = {.allocator = viewer->allocator};
    rgResult result = rgPackPage(recording, used, &scene, &ghost);
    if (result == rg_ok) {
        rgSetScene(viewer, scene, ghost, false);
    } else {
        rgBytes_Free(&scene);
        rgBytes_Free(&ghost);
    }
    return result;
}

rgResult rgViewer_ShowWorld(rgViewer* viewer, const rgWorld* world) {
    if (viewer == NULL || world == NULL) {
        return rg_errorArgument;
    }
    rgBytes packed = {.allocator = viewer->allocator}, scene = {.allocator = viewer->allocator};
    rgModelInfo info = rgModel_Info(rgWorld_Model(world));
    pthread_mutex_lock(&viewer->mutex);
    viewer->bodyCount = info.bodyCount;
    viewer->keyCount = info.keyCount;
    viewer->qCount = info.qCount;
    viewer->actuatorCount = info.actuatorCount;
    pthread_mutex_unlock(&viewer->mutex);
    rgResult result =
        rgPackModel(rgWorld_Model(world), viewer->title, rgWorld_TimeStep(world), &packed);
    if (result == rg_ok) {
        result = rgCompress(packed.data, packed.size, &scene);
    }
    rgBytes_Free(&packed);
    if (result == rg_ok) {
        rgSetScene(viewer, scene, (rgBytes){.allocator = viewer->allocator}, true);
    } else {
        rgBytes_Free(&scene);
    }
    return result;
}

rgResult rgViewer_Update(rgViewer* viewer, const rgWorld* world, const rgStepReport* report,
                         const rgViewerState* state) {
    if (viewer == NULL || world == NULL) {
        return rg_errorArgument;
    }
    rgEvent* event = rgAllocate(&viewer->allocator, 1, sizeof(rgEvent));
    if (event == NULL) {
        return rg_errorMemory;
    }
    rgFrameNotes notes = {.realTime = state != NULL ? state->realTime : 1,
                          .isPaused = state != NULL && state->isPaused,
                          .isStopped = state != NULL && state->isPaused && state->isStopped,
                          .generation = viewer->generation};
    event->text.allocator = viewer->allocator;
    event->users = 1;
    rgResult result = rgPackFrame(world, report, &notes, &viewer->scratch, &event->text);
    if (result != rg_ok) {
        rgDropEvent(viewer, event);
        return result;
    }
    pthread_mutex_lock(&viewer->mutex);
    rgDropEvent(viewer, viewer->event);
    event->number = ++viewer->eventNumber;
    viewer->event = event;
    rgWakeClients(viewer);
    pthread_mutex_unlock(&viewer->mutex);
    return rg_ok;
}

bool rgViewer_NextCommand(rgViewer* viewer, rgViewerCommand* command) {
    if (viewer == NULL || command == NULL) {
        return false;
    }
    pthread_mutex_lock(&viewer->mutex);
    bool found = viewer->commandTail < viewer->commandHead;
    if (found) {
        *command = viewer->commands[viewer->commandTail++ % rg_commandCount];
    }
    if (viewer->commandTail == viewer->commandHead) {
        viewer->commandTail = viewer->commandHead = 0;
    }
    pthread_mutex_unlock(&viewer->mutex);
    return found;
}

rgResult rgViewer_RequestPictures(rgViewer* viewer, const rgPictureDef* def) {
    if (viewer == NULL || def == NULL || def->count < 1 || def->times == NULL ||
        def->picture == NULL || def->width < 1 || def->height < 1) {
        return rg_errorArgument;
    }
    double* times = rgAllocate(&viewer->allocator, (size_t)def->count, sizeof(double));
    if (times == NULL) {
        return rg_errorMemory;
    }
    memcpy(times, def->times, (size_t)def->count * sizeof(double));
    pthread_mutex_lock(&viewer->mutex);
    rgRelease(&viewer->allocator, viewer->times);
    viewer->times = times;
    viewer->pictures = *def;
    pthread_mutex_unlock(&viewer->mutex);
    return rg_ok;
}

#else

bool rgHasViewer(void) {
    return false;
}

rgResult rgCreateViewer(const rgViewerDef* def, rgDiagnostics* diagnostics, rgViewer** viewer) {
    (void)def;
    if (viewer == NULL) {
        return rg_errorArgument;
    }
    rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                      "rigor was built without libmicrohttpd, which the viewer's server needs");
    return rg_errorUnsupported;
}

void rgDestroyViewer(rgViewer* viewer) {
    (void)viewer;
}

int rgViewer_Port(const rgViewer* viewer) {
    (void)viewer;
    return 0;
}

int rgViewer_ClientCount(const rgViewer* viewer) {
    (void)viewer;
    return 0;
}

rgResult rgViewer_ShowRecording(rgViewer* viewer, rgRecording* recording, const rgPageDef* def) {
    (void)viewer, (void)recording, (void)def;
    return rg_errorArgument;
}

rgResult rgViewer_ShowWorld(rgViewer* viewer, const rgWorld* world) {
    (void)viewer, (void)world;
    return rg_errorArgument;
}

rgResult rgViewer_Update(rgViewer* viewer, const rgWorld* world, const rgStepReport* report,
                         const rgViewerState* state) {
    (void)viewer, (void)world, (void)report, (void)state;
    return rg_errorArgument;
}

bool rgViewer_NextCommand(rgViewer* viewer, rgViewerCommand* command) {
    (void)viewer, (void)command;
    return false;
}

rgResult rgViewer_RequestPictures(rgViewer* viewer, const rgPictureDef* def) {
    (void)viewer, (void)def;
    return rg_errorArgument;
}
#endif

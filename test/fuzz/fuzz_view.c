// Bytes as what a client sends to the viewer's server: a whole request as it is, or the body of a
// command. The server answers or closes, and goes on serving.
#include "fuzz.h"

#include "rigor/scene.h"
#include "rigor/view.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static rgViewer* rgMakeViewer(rgWorld** shown) {
    rgModelDef* def = NULL;
    static rgModel* model; // it, world and viewer live as long as the program
    rgWorld* world = NULL;
    rgViewer* viewer = NULL;
    RG_PROMISE(rgLoadModelDef("arm", NULL, NULL, &def) == rg_ok);
    RG_PROMISE(rgCompileModel(def, NULL, NULL, &model) == rg_ok);
    RG_PROMISE(rgCreateWorld(model, NULL, NULL, &world) == rg_ok);
    rgDestroyModelDef(def);
    RG_PROMISE(rgCreateViewer(NULL, NULL, &viewer) == rg_ok);
    RG_PROMISE(rgViewer_ShowWorld(viewer, world) == rg_ok);
    *shown = world;
    return viewer;
}

// libFuzzer's timer may interrupt a connect that waits for its turn: then anew.
static int rgConnect(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (;;) {
        int client = socket(AF_INET, SOCK_STREAM, 0);
        if (client < 0 || connect(client, (struct sockaddr*)&address, sizeof(address)) == 0) {
            return client;
        }
        int reason = errno;
        close(client);
        if (reason != EINTR) {
            return -1;
        }
    }
}

// Send all, then wait until the server answers or closes. Connections end with a reset: their ports
// are free.
static bool rgAsk(int port, const char* text, size_t size) {
    struct linger reset = {1, 0};
    struct timeval wait = {.tv_usec = 20000};
    int client = rgConnect(port);
    if (client >= 0) {
        char answer[512];
        setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
        if (send(client, text, size, MSG_NOSIGNAL) >= 0) {
            shutdown(client, SHUT_WR);
            (void)!recv(client, answer, sizeof(answer), 0);
        }
        close(client);
    }
    return client >= 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
    static rgViewer* viewer;
    static rgWorld* world;
    if (!rgHasViewer()) { // built without its page
        return 0;
    }
    viewer = viewer == NULL ? rgMakeViewer(&world) : viewer;
    rgInput in = {bytes, count};
    static const char post[] = "POST /command HTTP/1.1\r\nHost: localhost\r\n"
                               "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n";
    static const char picture[] = "POST /picture?index=%zu HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    static const char* const starts[] = {"", post, picture, "GET /%zu"};
    char* text = malloc(in.left + 256);
    const char* start = starts[rgInput_Below(&in, 4)];
    int length = start[0] == '\0' ? 0 : snprintf(text, 256, start, in.left);
    memcpy(text + length, in.at, in.left);
    RG_PROMISE(rgAsk(rgViewer_Port(viewer), text, (size_t)length + in.left));
    rgStepReport report = {0};
    RG_PROMISE(rgViewer_Update(viewer, world, &report, NULL) ==
               rg_ok); // frames for those that listen
    rgViewerCommand command;
    while (rgViewer_NextCommand(viewer, &command)) {
        RG_PROMISE(command.kind != rg_commandNone && isfinite(command.number));
    }
    free(text);
    return 0;
}

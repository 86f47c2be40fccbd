// The viewer's server under attack: 200 connections at once that stall, send rubbish or behave.
// Who behaves is served, the simulation makes the bits that it makes alone, and descriptors and
// memory come back.
#include "folder.h"
#include "support.h"

#include "rigor/rigor.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { rg_clientCount = 200 };

static rgModel* rg_model;

static rgWorld* rgMakeWorld(void) {
    rgWorld* world = NULL;
    assert_int_equal(rgCreateWorld(rg_model, NULL, NULL, &world), rg_ok);
    return world;
}

static int rgOpenDescriptors(void) {
    DIR* folder = opendir("/proc/self/fd");
    int count = 0;
    assert_non_null(folder);
    while (readdir(folder) != NULL) {
        count += 1;
    }
    closedir(folder);
    return count;
}

// ---- clients

// A connection that gives up after two minutes of silence, so that a dead server fails the test.
static int rgConnect(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval patience = {.tv_sec = 120};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(client >= 0);
    assert_int_equal(connect(client, (struct sockaddr*)&address, sizeof(address)), 0);
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    return client;
}

// The server may have closed already: then nothing is sent.
static void rgSend(int client, const char* text, size_t size) {
    while (size > 0) {
        ssize_t sent = send(client, text, size, MSG_NOSIGNAL);
        if (sent <= 0) {
            return;
        }
        text += sent;
        size -= (size_t)sent;
    }
}

static void rgSay(int client, const char* text) {
    rgSend(client, text, strlen(text));
}

// The whole answer of a server that closes after it.
static size_t rgReadAll(int client, char* answer, size_t room) {
    size_t size = 0;
    for (;;) {
        ssize_t count = recv(client, answer + size, room - 1 - size, 0);
        if (count <= 0 || size + (size_t)count >= room - 1) {
            size += count > 0 ? (size_t)count : 0;
            answer[size] = '\0';
            return size;
        }
        size += (size_t)count;
    }
}

#define RG_HOST "HTTP/1.1\r\nHost: localhost\r\n"

// Begun and never ended.
static void rgStall(int client, int kind) {
    static const char* const starts[] = {
        "",
        "G",
        "GET / " RG_HOST,
        "GET / HTTP/1.1\r\nHost: local",
        "POST /command " RG_HOST
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"do",
        "POST /command " RG_HOST "Transfer-Encoding: chunked\r\n\r\n10\r\n{",
        "GET /events " RG_HOST "\r\n", // and takes nothing of it
        "GET /scene.bin " RG_HOST "\r\n",
    };
    rgSay(client, starts[kind % (int)(sizeof(starts) / sizeof(starts[0]))]);
}

static void rgSendLarge(int client, const char* start, int count) {
    char* text = malloc((size_t)count);
    memset(text, 'x', (size_t)count);
    rgSay(client, start);
    rgSend(client, text, (size_t)count);
    rgSay(client, "\r\n\r\n");
    free(text);
}

static void rgSendRubbish(int client, int kind) {
    static const char* const texts[] = {
        "\r\n\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n",
        "GET /%00%ff%zz?index=%s%n " RG_HOST "\r\n",
        "POST /command " RG_HOST "Content-Length: -1\r\n\r\n",
        "POST /command " RG_HOST "Content-Length: 99999999999999999999999\r\n\r\n{}",
        "POST /command " RG_HOST
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST /command " RG_HOST
        "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"do\":[[[",
        "POST /picture?index=99999999999 " RG_HOST "Content-Length: 0\r\n\r\n",
        "DELETE / " RG_HOST "\r\n",
        ": : :\r\n: :\r\n\r\n",
    };
    int known = (int)(sizeof(texts) / sizeof(texts[0]));
    kind %= known + 3;
    if (kind < known) {
        rgSay(client, texts[kind]);
    } else if (kind == known) { // headers without end
        rgSendLarge(client, "GET / HTTP/1.1\r\nX: ", 100000);
    } else if (kind == known + 1) { // a body that is too large
        rgSendLarge(client,
                    "POST /command " RG_HOST
                    "Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n",
                    60000);
    } else {
        rgSend(client, "\0\1\2\377\0\0GET / HTTP/1.1\r\n\r\n", 24);
    }
}

// Both get the page and the scene, give a command, and see a frame.
static void rgBehave(rgViewer* viewer, const rgWorld* world, int turn) {
    static const char* const requests[] = {
        "GET / " RG_HOST "Connection: close\r\n\r\n",
        "GET /scene.bin " RG_HOST "Connection: close\r\n\r\n",
        "POST /command " RG_HOST "Connection: close\r\nContent-Type: application/json\r\n"
        "Content-Length: 24\r\n\r\n{\"do\":\"speed\",\"value\":2}",
        "GET /events " RG_HOST "\r\n",
    };
    static char answer[4 << 20];
    int client = rgConnect(rgViewer_Port(viewer));
    rgSay(client, requests[turn % 4]);
    if (turn % 4 == 3) { // no end: the start of the first frame
        assert_int_equal(rgViewer_Update(viewer, world, NULL, NULL), rg_ok);
        size_t size = 0;
        answer[0] = '\0';
        while (strstr(answer, "data:") == NULL) {
            ssize_t count = recv(client, answer + size, 4096, 0);
            assert_true(count > 0);
            size += (size_t)count;
            answer[size] = '\0';
            assert_true(size < 100000);
        }
    } else {
        assert_true(rgReadAll(client, answer, sizeof(answer)) > 0);
    }
    if (strncmp(answer, "HTTP/1.1 200", 12) != 0) {
        print_error("turn %d: %.200s\n", turn, answer);
    }
    assert_memory_equal(answer, "HTTP/1.1 200", 12);
    close(client);
}

// ---- the test

// Frames go out until the server has noticed that everyone left. A minute is no measurement: it is
// when to stop waiting.
static void rgAwaitPeace(rgViewer* viewer, const rgWorld* world, int descriptors) {
    for (int i = 0; i < 60000; ++i) {
        if (rgViewer_ClientCount(viewer) == 0 && rgOpenDescriptors() == descriptors) {
            return;
        }
        assert_int_equal(rgViewer_Update(viewer, world, NULL, NULL), rg_ok);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    print_error("%d clients, %d descriptors instead of %d\n", rgViewer_ClientCount(viewer),
                rgOpenDescriptors(), descriptors);
    fail();
}

static void rgAttack(rgViewer* viewer, rgWorld* world, rgWorld* alone) {
    int clients[rg_clientCount];
    rgViewerCommand command;
    int commands = 0;
    for (int i = 0; i < rg_clientCount; ++i) {
        clients[i] = rgConnect(rgViewer_Port(viewer));
    }
    for (int i = 0; i < rg_clientCount; ++i) {
        if (i % 2 == 0) {
            rgStall(clients[i], i / 2);
        } else {
            rgSendRubbish(clients[i], i / 2);
        }
        if (i % 10 == 9) {
            rgBehave(viewer, world, i / 10);
        }
        rgStepReport report;
        assert_int_equal(rgWorld_Step(world, &report), rg_ok);
        assert_int_equal(rgViewer_Update(viewer, world, &report, NULL), rg_ok);
        assert_int_equal(rgWorld_Step(alone, NULL), rg_ok);
        assert_true(rgWorld_Hash(world) == rgWorld_Hash(alone));
        while (rgViewer_NextCommand(viewer, &command)) {
            assert_int_equal(command.kind, rg_commandSpeed);
            assert_true(command.number == 2);
            commands += 1;
        }
    }
    assert_int_equal(commands, rg_clientCount / 40);
    for (int i = 0; i < rg_clientCount; ++i) {
        close(clients[i]);
    }
}

static void test_many_clients(void** state) {
    (void)state;
    rgCounter counter = {.failAfter = -1};
    rgViewerDef def = rgDefaultViewerDef();
    rgViewer* viewer = NULL;
    rgWorld *world = rgMakeWorld(), *alone = rgMakeWorld();
    int before = rgOpenDescriptors();
    def.allocator = rgCountingAllocator(&counter);
    assert_int_equal(rgCreateViewer(&def, NULL, &viewer), rg_ok);
    assert_int_equal(rgViewer_ShowWorld(viewer, world), rg_ok);
    assert_int_equal(rgViewer_Update(viewer, world, NULL, NULL), rg_ok);
    int serving = rgOpenDescriptors(), blocks = counter.live;
    for (int round = 0; round < 2; ++round) {
        rgAttack(viewer, world, alone);
        rgAwaitPeace(viewer, world, serving);
        assert_int_equal(counter.live, blocks);
    }
    for (int turn = 0; turn < 4; ++turn) {
        rgBehave(viewer, world, turn);
    }
    rgDestroyViewer(viewer);
    assert_int_equal(counter.live, 0);
    assert_int_equal(rgOpenDescriptors(), before);
    rgDestroyWorld(world);
    rgDestroyWorld(alone);
}

// A server that goes while clients are connected takes them with it.
static void test_ends_with_clients(void** state) {
    (void)state;
    rgCounter counter = {.failAfter = -1};
    rgViewerDef def = rgDefaultViewerDef();
    rgViewer* viewer = NULL;
    rgWorld* world = rgMakeWorld();
    int clients[rg_clientCount], before = rgOpenDescriptors();
    def.allocator = rgCountingAllocator(&counter);
    assert_int_equal(rgCreateViewer(&def, NULL, &viewer), rg_ok);
    assert_int_equal(rgViewer_ShowWorld(viewer, world), rg_ok);
    for (int i = 0; i < rg_clientCount; ++i) {
        clients[i] = rgConnect(rgViewer_Port(viewer));
        rgStall(clients[i], i);
        assert_int_equal(rgViewer_Update(viewer, world, NULL, NULL), rg_ok);
    }
    rgDestroyViewer(viewer);
    assert_int_equal(counter.live, 0);
    for (int i = 0; i < rg_clientCount; ++i) {
        close(clients[i]);
    }
    assert_int_equal(rgOpenDescriptors(), before);
    rgDestroyWorld(world);
}

// More commands than may wait are refused with 503, and none is taken without a place for it.
static void test_commands_that_wait(void** state) {
    (void)state;
    static char answer[4096];
    rgViewer* viewer = NULL;
    rgWorld* world = rgMakeWorld();
    assert_int_equal(rgCreateViewer(NULL, NULL, &viewer), rg_ok);
    assert_int_equal(rgViewer_ShowWorld(viewer, world), rg_ok);
    int refused = 0, taken = 0;
    for (int i = 0; i < 300; ++i) {
        int client = rgConnect(rgViewer_Port(viewer));
        rgSay(client,
              "POST /command " RG_HOST "Connection: close\r\nContent-Type: application/json\r\n"
              "Content-Length: 14\r\n\r\n{\"do\":\"pause\"}");
        assert_true(rgReadAll(client, answer, sizeof(answer)) > 0);
        refused += strncmp(answer, "HTTP/1.1 503", 12) == 0;
        close(client);
    }
    assert_false(rgViewer_NextCommand(viewer, NULL));
    rgViewerCommand command;
    while (rgViewer_NextCommand(viewer, &command)) {
        assert_int_equal(command.kind, rg_commandPause);
        taken += 1;
    }
    assert_int_equal(taken, 256);
    assert_int_equal(refused, 300 - 256);
    rgDestroyViewer(viewer);
    rgDestroyWorld(world);
}

// Post a command; true if the server took it.
static bool rgPost(rgViewer* viewer, const char* command) {
    static char request[1024], answer[4096];
    int client = rgConnect(rgViewer_Port(viewer));
    snprintf(request, sizeof(request),
             "POST /command " RG_HOST
             "Connection: close\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
             strlen(command), command);
    rgSay(client, request);
    assert_true(rgReadAll(client, answer, sizeof(answer)) > 0);
    close(client);
    assert_true(strncmp(answer, "HTTP/1.1 200", 12) == 0 ||
                strncmp(answer, "HTTP/1.1 400", 12) == 0);
    return answer[9] == '2';
}

// Wrenches name a body of the world and are bounded; watching is on or off.
static void test_wrenches(void** state) {
    (void)state;
    rgViewer* viewer = NULL;
    rgWorld* world = rgMakeWorld();
    rgViewerCommand command;
    assert_int_equal(rgCreateViewer(NULL, NULL, &viewer), rg_ok);
    assert_int_equal(rgViewer_ShowWorld(viewer, world), rg_ok);
    assert_true(
        rgPost(viewer, "{\"do\":\"wrench\",\"body\":2,\"point\":[1,-2,3e7],\"target\":[4,5,6]}"));
    assert_true(rgViewer_NextCommand(viewer, &command));
    assert_int_equal(command.kind, rg_commandWrench);
    assert_int_equal(command.body.index1, 2);
    assert_true(command.point.y == -2 && command.point.z == 3e7 && command.target.z == 6);
    assert_false(rgPost(viewer, "{\"do\":\"wrench\",\"body\":2,\"point\":[1,0,0]}"));
    assert_false(
        rgPost(viewer, "{\"do\":\"wrench\",\"body\":0,\"point\":[1,0,0],\"target\":[0,0,0]}"));
    assert_false(
        rgPost(viewer, "{\"do\":\"wrench\",\"body\":9999,\"point\":[1,0,0],\"target\":[0,0,0]}"));
    assert_false(
        rgPost(viewer, "{\"do\":\"wrench\",\"body\":2,\"point\":[1,0,0],\"target\":[0,2e9,0]}"));
    assert_true(rgPost(viewer, "{\"do\":\"watch\",\"value\":1}"));
    assert_true(rgViewer_NextCommand(viewer, &command));
    assert_int_equal(command.kind, rg_commandWatch);
    assert_true(command.number == 1);
    assert_false(rgPost(viewer, "{\"do\":\"watch\",\"value\":2}"));
    assert_false(rgViewer_NextCommand(viewer, &command));
    rgDestroyViewer(viewer);
    rgDestroyWorld(world);
}

// What is missing is an error, and nothing is shown instead of what was.
static void test_recordings_that_are_missing(void** state) {
    (void)state;
    rgViewer* viewer = NULL;
    rgRecording* recording = NULL;
    rgRecorder* recorder = NULL;
    rgWorld* world = rgMakeWorld();
    rgPageDef page = rgDefaultPageDef();
    rgRecorderDef def = rgDefaultRecorderDef();
    def.path = rgTestPath("shown.h5");
    assert_int_equal(rgCreateViewer(NULL, NULL, &viewer), rg_ok);
    assert_int_equal(rgCreateRecorder(&def, world, NULL, &recorder), rg_ok);
    assert_int_equal(rgRecorder_Add(recorder, world, NULL), rg_ok);
    assert_int_equal(rgRecorder_Finish(recorder), rg_ok);
    rgDestroyRecorder(recorder);
    assert_int_equal(rgLoadRecording(rgTestPath("shown.h5"), NULL, NULL, &recording), rg_ok);
    assert_int_equal(rgViewer_ShowRecording(viewer, NULL, NULL), rg_errorArgument);
    assert_int_equal(rgViewer_ShowRecording(NULL, recording, NULL), rg_errorArgument);
    page.cookie = 0;
    assert_int_equal(rgViewer_ShowRecording(viewer, recording, &page), rg_errorArgument);
    assert_int_equal(rgViewer_ShowRecording(viewer, recording, NULL), rg_ok);
    rgDestroyRecording(recording);
    rgDestroyViewer(viewer);
    rgDestroyWorld(world);
}

int main(void) {
    if (!rgHasViewer()) {
        printf("skipped: rigor was built without the viewer\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_clients),
        cmocka_unit_test(test_ends_with_clients),
        cmocka_unit_test(test_commands_that_wait),
        cmocka_unit_test(test_wrenches),
        cmocka_unit_test(test_recordings_that_are_missing),
    };
    assert_int_equal(rgLoadModel("quadruped", NULL, NULL, &rg_model), rg_ok);
    int failures = cmocka_run_group_tests(tests, rgMakeTestFolder, rgRemoveTestFolder);
    rgDestroyModel(rg_model);
    return failures;
}

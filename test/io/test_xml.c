// XML: the tree, its limits, typed attributes and the complaints about bad ones; numbers.
#include "io/number.h"
#include "io/xml.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rgFixture {
    rgXmlTree* tree;
    rgDiagnostics* diagnostics;
    rgXmlNode* root;
    rgXmlReader reader;
} rgFixture;

static rgResult rgOpen(rgFixture* fixture, const char* text) {
    *fixture = (rgFixture){0};
    assert_int_equal(rgCreateXmlTree(NULL, &fixture->tree), rg_ok);
    assert_int_equal(rgCreateDiagnostics(NULL, &fixture->diagnostics), rg_ok);
    fixture->reader.diagnostics = fixture->diagnostics;
    return rgXmlTree_Parse(fixture->tree, text, strlen(text), "a.xml", fixture->diagnostics,
                           &fixture->root);
}

static void rgClose(rgFixture* fixture) {
    rgDestroyXmlTree(fixture->tree);
    rgDestroyDiagnostics(fixture->diagnostics);
}

static void rgExpectMessage(const rgFixture* fixture, int index, int line, const char* text) {
    rgMessage message = rgDiagnostics_Message(fixture->diagnostics, index);
    assert_string_equal(message.text, text);
    assert_string_equal(message.file, "a.xml");
    assert_int_equal(message.line, line);
}

static void test_tree(void** state) {
    (void)state;
    rgFixture f;
    assert_int_equal(rgOpen(&f, "<a x='1' y=\"&lt;&#65;\">\n<b/>\n<c> hi </c><b z='2'/></a>"),
                     rg_ok);
    assert_string_equal(f.root->name, "a");
    assert_int_equal(f.root->attributeCount, 2);
    assert_string_equal(rgXmlNode_Attribute(f.root, "y"), "<A");
    assert_null(rgXmlNode_Attribute(f.root, "z"));
    const rgXmlNode* b = rgXmlNode_Child(f.root, "b");
    assert_int_equal(b->line, 2);
    const rgXmlNode* second = rgXmlNode_Next(b, "b");
    assert_string_equal(rgXmlNode_Attribute(second, "z"), "2");
    assert_null(rgXmlNode_Next(second, "b"));
    assert_int_equal(rgXmlNode_Child(f.root, "c")->textLine, 3);
    assert_ptr_equal(second->parent, f.root);
    rgClose(&f);
}

// Python's lxml writes the name of ASCII that expat does not know.
static void test_ascii(void** state) {
    (void)state;
    rgFixture f;
    assert_int_equal(rgOpen(&f, "<?xml version='1.0' encoding='ASCII'?><a x='1'/>"), rg_ok);
    assert_string_equal(rgXmlNode_Attribute(f.root, "x"), "1");
    rgClose(&f);
    assert_int_equal(rgOpen(&f, "<?xml version='1.0' encoding='ascii'?><a x='\xe9'/>"),
                     rg_errorFormat);
    rgClose(&f);
    assert_int_equal(rgOpen(&f, "<?xml version='1.0' encoding='EBCDIC'?><a/>"), rg_errorFormat);
    rgExpectMessage(&f, 0, 1, "XML: unknown encoding");
    rgClose(&f);
}

static void test_replace_by_children(void** state) {
    (void)state;
    const char* const texts[] = {"<a><x/><i/><y/></a>", "<a><i/></a>", "<a><i/><y/></a>",
                                 "<a><x/><i/></a>"};
    const char* const sources[] = {"<m><p/><q/></m>", "<m/>"};
    const char* const expected[][2] = {{"xpqy", "xy"}, {"pq", ""}, {"pqy", "y"}, {"xpq", "x"}};
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 2; ++k) {
            rgFixture f;
            assert_int_equal(rgOpen(&f, texts[i]), rg_ok);
            rgXmlNode* source = NULL;
            assert_int_equal(rgXmlTree_Parse(f.tree, sources[k], strlen(sources[k]), "b.xml",
                                             f.diagnostics, &source),
                             rg_ok);
            rgXmlNode* node = f.root->firstChild;
            while (strcmp(node->name, "i") != 0) {
                node = node->next;
            }
            rgXmlNode_ReplaceByChildren(node, source);
            char names[16] = "";
            const rgXmlNode* last = NULL;
            for (const rgXmlNode* at = f.root->firstChild; at != NULL; at = at->next) {
                strcat(names, at->name);
                assert_ptr_equal(at->parent, f.root);
                last = at;
            }
            assert_string_equal(names, expected[i][k]);
            assert_ptr_equal(f.root->lastChild, last);
            rgClose(&f);
        }
    }
}

static void test_malformed(void** state) {
    (void)state;
    static const struct {
        const char* text;
        rgResult result;
        int line;
        const char* reason;
    } cases[] = {
        {"", rg_errorFormat, 1, "XML: no element found"},
        {"<a>\n<b></a>", rg_errorFormat, 2, "XML: mismatched tag"},
        {"<a>\n\n", rg_errorFormat, 3, "XML: no element found"},
        {"<a x='1' x='2'/>", rg_errorFormat, 1, "XML: duplicate attribute"},
        {"<a/><b/>", rg_errorFormat, 1, "XML: junk after document element"},
        {"<a>&x;</a>", rg_errorFormat, 1, "XML: undefined entity"},
        {"<!DOCTYPE a [<!ENTITY x 'y'>]>\n<a>&x;</a>", rg_errorUnsupported, 1,
         "XML: document type declarations (<!DOCTYPE>) and entities are refused"},
        {"<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", rg_errorUnsupported, 1,
         "XML: document type declarations (<!DOCTYPE>) and entities are refused"},
    };
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        rgFixture f;
        assert_int_equal(rgOpen(&f, cases[i].text), cases[i].result);
        assert_null(f.root);
        assert_int_equal(rgDiagnostics_Count(f.diagnostics), 1);
        rgExpectMessage(&f, 0, cases[i].line, cases[i].reason);
        rgClose(&f);
    }
}

// Faults that other readers overlook: warnings, and errors of a strict tree.
static void test_mended(void** state) {
    (void)state;
    static const struct {
        const char* text;
        int line;
        const char* reason;
    } cases[] = {
        {"<a x='1'y='2'>\n<b/></a>", 1, "XML: not well-formed (invalid token); the text"},
        {"\n<?xml version='1.0'?>\n<a x='1' y='2'>\n<b/></a>", 2,
         "XML: XML or text declaration not at start of entity"},
        {"<a x='1' y='2'><!-- two -- dashes --><b/></a>", 1, "XML: not well-formed"},
        {"<a x='1' y='2'><b/></a>\nand more", 2, "XML: junk after document element"},
        {"<a x='1' y='2' z='< & &amp;'><b/>this & that</a>", 1, "XML: not well-formed"},
    };
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        rgFixture f;
        assert_int_equal(rgOpen(&f, cases[i].text), rg_ok);
        assert_int_equal(rgDiagnostics_Count(f.diagnostics), 1);
        rgMessage message = rgDiagnostics_Message(f.diagnostics, 0);
        assert_int_equal(message.severity, rg_severityWarning);
        assert_int_equal(message.line, cases[i].line);
        assert_non_null(strstr(message.text, cases[i].reason));
        assert_string_equal(rgXmlNode_Attribute(f.root, "x"), "1");
        assert_string_equal(rgXmlNode_Attribute(f.root, "y"), "2");
        assert_string_equal(f.root->firstChild->name, "b");
        if (i == 4) {
            assert_string_equal(rgXmlNode_Attribute(f.root, "z"), "< & &");
        }
        rgXmlNode* root = NULL;
        rgXmlTree_SetStrict(f.tree);
        assert_int_equal(rgXmlTree_Parse(f.tree, cases[i].text, strlen(cases[i].text), "x",
                                         f.diagnostics, &root),
                         rg_errorFormat);
        assert_null(root);
        rgClose(&f);
    }
}

static void test_depth_is_limited(void** state) {
    (void)state;
    char text[4 * (RG_XML_MAX_DEPTH + 1) + 1] = "";
    for (int i = 0; i <= RG_XML_MAX_DEPTH; ++i) {
        strcat(text, "<a>");
    }
    rgFixture f;
    assert_int_equal(rgOpen(&f, text), rg_errorUnsupported);
    rgExpectMessage(&f, 0, 1, "XML: elements are nested too deeply");
    rgClose(&f);
}

static void test_missing_file(void** state) {
    (void)state;
    rgFixture f;
    assert_int_equal(rgOpen(&f, "<a/>"), rg_ok);
    assert_int_equal(rgXmlTree_Load(f.tree, "no/such.xml", f.diagnostics, &f.root), rg_errorFile);
    rgMessage message = rgDiagnostics_Message(f.diagnostics, 0);
    assert_string_equal(message.file, "no/such.xml");
    assert_string_equal(message.text, "cannot open the file: it does not exist");
    assert_int_equal(rgXmlTree_Load(f.tree, "/dev/zero", f.diagnostics, &f.root), rg_errorFile);
    assert_int_equal(rgXmlTree_Load(f.tree, "/", f.diagnostics, &f.root), rg_errorFile);
    rgClose(&f);
}

static void test_getters(void** state) {
    (void)state;
    rgFixture f;
    const char* text = "<a d='-1.5e2' v=' 1\t2\n3 ' i='-7' b='true' c='0' w='two' n='4 5'/>";
    assert_int_equal(rgOpen(&f, text), rg_ok);
    static const rgXmlWord words[] = {{"one", 1}, {"two", 2}, {NULL, 0}};
    double d = 0, v[3] = {0};
    int i = 0, w = 0, n[3] = {0};
    bool b = false, c = true;
    assert_true(rgXmlReader_Double(&f.reader, f.root, "d", &d));
    assert_true(d == -150);
    assert_int_equal(rgXmlReader_Doubles(&f.reader, f.root, "v", v, 3, 3), 3);
    assert_true(v[0] == 1 && v[1] == 2 && v[2] == 3);
    assert_true(rgXmlReader_Int(&f.reader, f.root, "i", &i));
    assert_int_equal(i, -7);
    assert_true(rgXmlReader_Bool(&f.reader, f.root, "b", &b) && b);
    assert_true(rgXmlReader_Bool(&f.reader, f.root, "c", &c) && !c);
    assert_true(rgXmlReader_Word(&f.reader, f.root, "w", words, &w));
    assert_int_equal(w, 2);
    assert_int_equal(rgXmlReader_Ints(&f.reader, f.root, "n", n, 1, 3), 2);
    assert_int_equal(rgXmlNode_WordCount(f.root, "v"), 3);
    assert_int_equal(rgXmlNode_WordCount(f.root, "none"), 0);
    d = 9;
    assert_false(rgXmlReader_Double(&f.reader, f.root, "none", &d));
    assert_true(d == 9);
    assert_int_equal(f.reader.errorCount, 0);
    rgClose(&f);
}

static void test_bad_values(void** state) {
    (void)state;
    rgFixture f;
    assert_int_equal(rgOpen(&f, "<r>\n<a d='1.5x' v='1 2' u='1 nan 3' i='3.5' b='maybe' w='tow' "
                                "e='' inf='1e999' big='99999999999'/></r>"),
                     rg_ok);
    const rgXmlNode* a = f.root->firstChild;
    static const rgXmlWord words[] = {{"one", 1}, {"two", 2}, {NULL, 0}};
    double d = 7, v[3] = {7, 7, 7};
    int i = 7;
    bool b = true;
    assert_false(rgXmlReader_Double(&f.reader, a, "d", &d));
    assert_int_equal(rgXmlReader_Doubles(&f.reader, a, "v", v, 3, 3), 0);
    assert_int_equal(rgXmlReader_Doubles(&f.reader, a, "u", v, 1, 3), 0);
    assert_false(rgXmlReader_Int(&f.reader, a, "i", &i));
    assert_false(rgXmlReader_Bool(&f.reader, a, "b", &b));
    assert_false(rgXmlReader_Word(&f.reader, a, "w", words, &i));
    static const rgXmlWord letters[] = {{"x", 1}, {"y", 2}, {"z", 3}, {NULL, 0}};
    assert_false(rgXmlReader_Word(&f.reader, a, "w", letters, &i));
    assert_null(rgXmlReader_Required(&f.reader, a, "e"));
    assert_null(rgXmlReader_Required(&f.reader, a, "none"));
    assert_null(rgXmlReader_RequiredChild(&f.reader, a, "kid"));
    assert_false(rgXmlReader_Double(&f.reader, a, "inf", &d));
    assert_false(rgXmlReader_Int(&f.reader, a, "big", &i));
    assert_true(d == 7 && v[0] == 7 && v[1] == 7 && i == 7 && b);
    static const char* const expected[] = {
        "<a d>: '1.5x' is not a finite number",
        "<a v>: needs 3 numbers, has 2",
        "<a u>: 'nan' is not a finite number",
        "<a i>: '3.5' is not an integer",
        "<a b>: 'maybe' is none of: false, true, 0, 1",
        "<a w>: 'tow' is none of: one, two",
        "<a w>: 'tow' is none of: x, y, z",
        "<a>: the attribute 'e' is empty",
        "<a> needs the attribute 'none'",
        "<a> needs an element <kid>",
        "<a inf>: '1e999' is not a finite number",
        "<a big>: '99999999999' is not an integer",
    };
    assert_int_equal(rgDiagnostics_Count(f.diagnostics), RG_COUNT(expected));
    for (int k = 0; k < RG_COUNT(expected); ++k) {
        rgExpectMessage(&f, k, 2, expected[k]);
    }
    assert_int_equal(f.reader.errorCount, RG_COUNT(expected));
    rgClose(&f);
}

static void test_unknown_names(void** state) {
    (void)state;
    static const char* const attributes[] = {"damping", "friction", NULL};
    static const char* const children[] = {"origin", "geometry", NULL};
    for (int strict = 0; strict < 2; ++strict) {
        rgFixture f;
        assert_int_equal(rgOpen(&f, "<a dampng='1' friction='2' zzzz='3' xmlns:q='r'>\n<orign/>"
                                    "<geometry/>\n text</a>"),
                         rg_ok);
        f.reader.strict = strict;
        rgXmlReader_CheckAttributes(&f.reader, f.root, attributes);
        rgXmlReader_CheckChildren(&f.reader, f.root, children);
        assert_int_equal(rgDiagnostics_Count(f.diagnostics), 4);
        rgExpectMessage(&f, 0, 1, "<a>: unknown attribute 'dampng'; did you mean 'damping'?");
        rgExpectMessage(&f, 1, 1, "<a>: unknown attribute 'zzzz'");
        rgExpectMessage(&f, 2, 2,
                        "unknown element <orign> in <a> is ignored; did you mean 'origin'?");
        rgExpectMessage(&f, 3, 3, "text inside <a> has no meaning");
        assert_int_equal(f.reader.errorCount, strict ? 4 : 0);
        assert_int_equal(rgDiagnostics_CountOf(f.diagnostics, rg_severityWarning), strict ? 0 : 4);
        rgClose(&f);
    }
}

static void test_remarks_are_limited(void** state) {
    (void)state;
    rgFixture f;
    assert_int_equal(rgOpen(&f, "<a/>"), rg_ok);
    for (int i = 0; i < 2 * RG_XML_MAX_REMARKS; ++i) {
        rgXmlReader_Error(&f.reader, f.root, "error %d", i);
    }
    assert_int_equal(f.reader.errorCount, 2 * RG_XML_MAX_REMARKS);
    assert_int_equal(rgDiagnostics_Count(f.diagnostics), RG_XML_MAX_REMARKS + 1);
    rgClose(&f);
}

static void test_numbers_round_like_strtod(void** state) {
    (void)state;
    rgRandom random = {11};
    char text[64];
    for (int i = 0; i < 20000; ++i) {
        int digits = 1 + rgRandom_Index(&random, 20);
        double x = rgRandom_Normal(&random) * pow(10, rgRandom_Index(&random, 60) - 30);
        snprintf(text, sizeof(text), i % 2 ? "%.*e" : "%.*g", digits, x);
        double read = 0;
        assert_ptr_equal(rgScanDouble(text, text + strlen(text), &read), text + strlen(text));
        double reference = strtod(text, NULL);
        assert_memory_equal(&read, &reference, sizeof(read));
    }
}

static void test_number_forms(void** state) {
    (void)state;
    static const struct {
        const char* text;
        int used; // -1: not a number
        double value;
    } cases[] = {
        {"0", 1, 0},
        {"-0", 2, -0.0},
        {"+.5", 3, 0.5},
        {"5.", 2, 5},
        {".", -1, 0},
        {"", -1, 0},
        {"-", -1, 0},
        {"e5", -1, 0},
        {"1e", 1, 1},
        {"1e+", 1, 1},
        {"1e5", 3, 1e5},
        {"0x10", 1, 0},
        {"nan", -1, 0},
        {"inf", -1, 0},
        {"1.2.3", 3, 1.2},
        {"1,5", 1, 1},
        {"1e400", 5, INFINITY},
        {"1e-400", 6, 0},
        {"4.9e-324", 8, 4.9e-324},
        {"1e99999999999", 13, INFINITY},
        {"0e99999999999", 13, 0},
    };
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        double read = 0;
        const char* text = cases[i].text;
        const char* after = rgScanDouble(text, text + strlen(text), &read);
        assert_int_equal(after == NULL ? -1 : after - text, cases[i].used);
        if (after != NULL) {
            assert_memory_equal(&read, &cases[i].value, sizeof(read));
        }
    }
    int value = 0;
    const char* least = "-2147483648";
    assert_non_null(rgScanInt(least, least + strlen(least), &value));
    assert_int_equal(value, INT32_MIN);
    const char* most = "2147483648";
    assert_null(rgScanInt(most, most + strlen(most), &value));
}

// A number with thousands of digits still reads, to the last bits.
static void test_long_numbers(void** state) {
    (void)state;
    char text[5001];
    memset(text, '3', 5000);
    text[5000] = '\0';
    text[1] = '.';
    double read = 0;
    assert_ptr_equal(rgScanDouble(text, text + 5000, &read), text + 5000);
    EXPECT_NEAR(read, 10.0 / 3, 1e-15);
    memset(text, '0', 5000);
    text[1] = '.';
    text[4999] = '5';
    assert_ptr_equal(rgScanDouble(text, text + 5000, &read), text + 5000);
    assert_true(read == 0);
    // before the point, and after it: digits beyond the 19th count in the exponent
    for (int point = 3; point < 3000; point += 800) {
        memset(text, '3', 5000);
        text[point] = '.';
        int length = 4000 + snprintf(text + 4000, 64, "e-%d", point - 3);
        assert_ptr_equal(rgScanDouble(text, text + length, &read), text + length);
        EXPECT_NEAR(read, 1000.0 / 3, 1e-12);
    }
}

// Whatever the bytes, there is a tree or a remark.
static void test_random_bytes(void** state) {
    (void)state;
    const char* seed = "<?xml version='1.0'?><a b='c'><d e=\"1 2\">x &amp; y</d><!-- k --></a>";
    rgRandom random = {5};
    char text[128];
    for (int i = 0; i < 5000; ++i) {
        size_t length = (size_t)rgRandom_Index(&random, (int)strlen(seed) + 1);
        memcpy(text, seed, strlen(seed));
        for (int k = rgRandom_Index(&random, 4); k > 0; --k) {
            text[rgRandom_Index(&random, (int)strlen(seed))] = (char)rgRandom_Index(&random, 256);
        }
        length = i % 2 ? length : strlen(seed);
        rgFixture f;
        assert_int_equal(rgOpen(&f, "<a/>"), rg_ok);
        rgXmlNode* root = NULL;
        rgResult result = rgXmlTree_Parse(f.tree, text, length, "r", f.diagnostics, &root);
        assert_true((result == rg_ok) == (root != NULL));
        int count = rgDiagnostics_Count(f.diagnostics); // mended ones with a warning
        assert_true(count == 1 || (count == 0 && result == rg_ok));
        assert_int_equal(rgDiagnostics_CountOf(f.diagnostics, rg_severityError), result != rg_ok);
        rgClose(&f);
    }
}

static void test_memory_failure(void** state) {
    (void)state;
    for (int failAfter = 0; failAfter < 20; ++failAfter) {
        rgCounter counter = {.failAfter = failAfter};
        rgAllocator allocator = rgCountingAllocator(&counter);
        rgXmlTree* tree = NULL;
        rgXmlNode* root = NULL;
        rgResult result = rgCreateXmlTree(&allocator, &tree);
        if (result == rg_ok) {
            result = rgXmlTree_Parse(tree, "<a b='1'c='2'/>", 15, "a", NULL, &root);
            rgDestroyXmlTree(tree);
        }
        assert_true(result == rg_ok || result == rg_errorMemory);
        assert_int_equal(counter.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_ascii),
        cmocka_unit_test(test_replace_by_children),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_mended),
        cmocka_unit_test(test_depth_is_limited),
        cmocka_unit_test(test_missing_file),
        cmocka_unit_test(test_getters),
        cmocka_unit_test(test_bad_values),
        cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_remarks_are_limited),
        cmocka_unit_test(test_numbers_round_like_strtod),
        cmocka_unit_test(test_number_forms),
        cmocka_unit_test(test_long_numbers),
        cmocka_unit_test(test_random_bytes),
        cmocka_unit_test(test_memory_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

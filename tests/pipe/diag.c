/* Diagnostics as people and editors see them, and every rule that has one. */
#include "suite.h"

#include "pipe_case.h"

static void golden(const char *text, const char *expected)
{
    pipe_case c = pipe_parse(text);
    char *shown = smp_diags_text(&c.diags, false);
    assert_string_equal(shown, expected);
    smp_free(shown);
    pipe_done(&c);
}

SMP_TEST(every_mistake_is_shown_in_one_pass)
{
    golden("# six mistakes\n"
           "kind image\n"
           "\n"
           "negate\n"
           "soften sigam=2px edge=mirror\n"
           "hflip\n"
           "\tsoften 3Hz edge=miror   # both are wrong\n"
           "soften 2pz\n"
           "cut 440\n"
           "combine by=@paper\n",
           "t.pipe:5:8: error: unknown parameter 'sigam' for stage 'soften'\n"
           "   5 | soften sigam=2px edge=mirror\n"
           "     |        ^~~~~ did you mean 'sigma'?\n"
           "     = note: soften takes: sigma, edge, truncate\n"
           "t.pipe:6:1: error: unknown stage 'hflip'\n"
           "   6 | hflip\n"
           "     | ^~~~~ smempipe calls this: choose 180\n"
           "t.pipe:7:9: error: 'sigma' is a length, but '3Hz' is a frequency\n"
           "   7 | \tsoften 3Hz edge=miror   # both are wrong\n"
           "     | \t       ^~~\n"
           "     = note: 'sigma' is written like this: 3px\n"
           "t.pipe:7:18: error: 'edge' must be clamp, reflect or mirror, not 'miror'\n"
           "   7 | \tsoften 3Hz edge=miror   # both are wrong\n"
           "     | \t                ^~~~~ did you mean 'mirror'?\n"
           "t.pipe:8:8: error: unknown unit 'pz' in '2pz'\n"
           "   8 | soften 2pz\n"
           "     |        ^~~ did you mean '2px'?\n"
           "     = note: 'sigma' is a length; without a unit it is in px\n"
           "t.pipe:9:1: error: stage 'cut' works on a sound, but is given a picture\n"
           "   9 | cut 440\n"
           "     | ^~~\n"
           "t.pipe:10:12: error: there is no '@paper'\n"
           "  10 | combine by=@paper\n"
           "     |            ^~~~~~\n"
           "     = note: a result is kept by writing -> @paper after the stage that makes it\n");
}

SMP_TEST(carets_stand_under_their_cells)
{
    /* Two cells each for the ideographs, none for the combining accent; the column counts characters. */
    golden("measure name=\"日本\" text=\"e\xCC\x81\" gr\xC3\xB6\xC3\x9F"
           "e=2\n",
           "t.pipe:1:29: error: unknown parameter 'größe' for stage 'measure'\n"
           "   1 | measure name=\"日本\" text=\"e\xCC\x81\" größe=2\n"
           "     |                              ^~~~~\n"
           "     = note: measure takes: name, text, bins\n");
    golden("\xEF\xBB\xBFsofte 2px\r\n", "t.pipe:1:1: error: unknown stage 'softe'\n"
                                        "   1 | softe 2px\n"
                                        "     | ^~~~~ did you mean 'soften'?\n");
    golden("soften sigma=", "t.pipe:1:14: error: 'sigma=' needs a value, found the end of the line\n"
                            "   1 | soften sigma=\n"
                            "     |              ^\n");
    golden("filter [1 2\n 3 4 @\n",
           "t.pipe:1:8: error: this '[' is never closed\n"
           "   1 | filter [1 2\n"
           "     |        ^ close it with ]\n"
           "t.pipe:2:2: error: unknown stage '3'\n"
           "   2 |  3 4 @\n"
           "     |  ^ a line begins with a stage's name\n"
           "t.pipe:2:6: error: '@' needs a name\n"
           "   2 |  3 4 @\n"
           "     |      ^\n"
           "     = note: $name is a parameter's value, @name a picture or sound kept with `-> @name`\n");
}

SMP_TEST(a_terminal_is_not_steered_by_a_text)
{
    pipe_case c = pipe_parse("measure name=\"\x1B[31m\xE2\x80\xAE\" texd=\"\x1B]0;x\x07\"\n");
    char *shown = smp_diags_text(&c.diags, false);
    assert_string_equal(shown,
                        "t.pipe:1:23: error: unknown parameter 'texd' for stage 'measure'\n"
                        "   1 | measure name=\"\xEF\xBF\xBD[31m\xEF\xBF\xBD\" texd=\"\xEF\xBF\xBD]0;x\xEF\xBF\xBD\"\n"
                        "     |                       ^~~~ did you mean 'text'?\n"
                        "     = note: measure takes: name, text, bins\n");
    smp_free(shown);
    pipe_done(&c);
}

SMP_TEST(long_lines_are_cut_round_the_caret)
{
    char text[2000];
    int n = snprintf(text, sizeof text, "measure name=\"");
    memset(text + n, 'a', 1000);
    snprintf(text + n + 1000, sizeof text - (size_t)n - 1000, "\" bims=3 text=\"%0*d\"\n", 500, 0);
    pipe_case c = pipe_parse(text);
    char *shown = smp_diags_text(&c.diags, false);
    const char *caret = strchr(shown, '^'), *name = strstr(shown, "bims=3");
    assert_non_null(strstr(shown, "   1 | ...aaa"));
    assert_non_null(strstr(shown, "000...\n"));
    const char *line = strstr(shown, "   1 | "), *under = strstr(shown, "     | ");
    assert_int_equal(caret - under, name - line);
    assert_true(strlen(shown) < 600);
    smp_free(shown);
    pipe_done(&c);
}

SMP_TEST(colour_adds_nothing_but_escapes)
{
    pipe_case c = pipe_parse("softe\nnegate @x\n");
    char *plain = smp_diags_text(&c.diags, false), *color = smp_diags_text(&c.diags, true);
    size_t n = 0;
    for (const char *at = color; *at; at++) {
        if (*at == '\033')
            at = strchr(at, 'm');
        else
            color[n++] = *at;
    }
    assert_true(n < strlen(color));
    color[n] = '\0';
    assert_string_equal(plain, color);
    smp_free(plain);
    smp_free(color);
    pipe_done(&c);
}

SMP_TEST(editors_get_one_object_a_line)
{
    pipe_case c = pipe_parse("soften sigam=2px\nmeasure \"a\\\"b\"\n");
    char *json = smp_diags_json(&c.diags);
    assert_string_equal(json,
                        "{\"file\": \"t.pipe\", \"line\": 1, \"column\": 8, \"end_line\": 1, \"end_column\": 13, "
                        "\"severity\": \"error\", \"message\": \"unknown parameter 'sigam' for stage 'soften'\", "
                        "\"fix\": \"did you mean 'sigma'?\", \"note\": \"soften takes: sigma, edge, truncate\"}\n"
                        "{\"file\": \"t.pipe\", \"line\": 2, \"column\": 9, \"end_line\": 2, \"end_column\": 15, "
                        "\"severity\": \"error\", \"message\": \"stage 'measure' takes no value without a name\", "
                        "\"fix\": \"write name=\\\"a\\\\\\\"b\\\"\", \"note\": \"measure takes: name, text, bins\"}\n");
    smp_free(json);
    pipe_done(&c);
}

SMP_TEST(at_most_twenty_and_one_line_more)
{
    char text[1000] = "";
    for (int i = 0; i < 23; i++)
        strcat(text, "nosuchstage\n");
    pipe_case c = pipe_parse(text);
    assert_int_equal(c.diags.errors, 23);
    assert_int_equal(c.diags.count, SMP_MAX_DIAGS);
    assert_string_equal(c.err.message, "23 errors in 't.pipe'");
    char *shown = smp_diags_text(&c.diags, false), *json = smp_diags_json(&c.diags);
    const char *last = strstr(shown, "t.pipe: ");
    assert_non_null(last);
    assert_string_equal(last, "t.pipe: 3 more errors are not shown\n");
    assert_non_null(strstr(json, "\"message\": \"3 more errors are not shown\""));
    smp_free(shown);
    smp_free(json);
    pipe_done(&c);
}

SMP_TEST(warnings_tell_what_is_unused)
{
    golden("param a = 1\n"
           "soften 2px -> @x\n"
           "from @input\n"
           "soften 3px\n"
           "from @input\n"
           "measure\n"
           "from @input\n"
           "negate\n",
           "t.pipe:1:7: warning: parameter 'a' is not used\n"
           "   1 | param a = 1\n"
           "     |       ^\n"
           "t.pipe:2:15: warning: '@x' is not used\n"
           "   2 | soften 2px -> @x\n"
           "     |               ^~\n"
           "t.pipe:4:1: warning: the result of 'soften' is not used\n"
           "   4 | soften 3px\n"
           "     | ^~~~~~\n");
}

SMP_TEST(values_are_checked_where_they_stand)
{
    pipe_one_error("soften", 1, 1, "stage 'soften' needs 'sigma'", NULL);
    pipe_one_error("soften 0", 1, 8, "'sigma' must be above 0 to 1000 px, not '0'", NULL);
    pipe_one_error("soften 2000px", 1, 8, "'sigma' must be above 0 to 1000 px, not '2000px'", NULL);
    pipe_one_error("soften 2000px 3px", 1, 8, "'sigma' must be above 0 to 1000 px, not '2000px'", NULL);
    pipe_one_error("soften foo", 1, 8, "'sigma' must be above 0 to 1000 px, not 'foo'", NULL);
    pipe_one_error("soften \"2\"", 1, 8, "'sigma' must be above 0 to 1000 px, not \"2\"", "write it without quotes: 2");
    pipe_one_error("soften @input", 1, 8, "'sigma' must be above 0 to 1000 px, not the picture '@input'", NULL);
    pipe_one_error("soften [1 2]", 1, 8, "'sigma' must be above 0 to 1000 px, not '[1 2]'", NULL);
    pipe_one_error("soften 0x10", 1, 8, "unknown unit 'x10' in '0x10'", NULL);
    pipe_one_error("soften nan", 1, 8, "'sigma' must be above 0 to 1000 px, not 'nan'", NULL);
    pipe_one_error("soften inf", 1, 8, "'sigma' must be above 0 to 1000 px, not 'inf'", NULL);
    pipe_one_error("soften 1e999", 1, 8, "'1e999' is too large a number", NULL);
    pipe_one_error("soften 2px*2", 1, 8, "'2px*2' is not a number", "arithmetic goes into braces: {2px*2}");
    pipe_one_error("soften 2hz", 1, 8, "unknown unit 'hz' in '2hz'", "did you mean '2Hz'?");
    pipe_one_error("soften 2px 3px", 1, 12, "only one value can stand without a name", NULL);
    pipe_one_error("soften 2px sigma=3px", 1, 12, "'sigma' is given twice", NULL);
    pipe_one_error("soften edge=clamp edge=mirror 2", 1, 19, "'edge' is given twice", NULL);
    pipe_one_error("soften 2 edge=\"clamp\"", 1, 15, "'edge' must be clamp, reflect or mirror, not \"clamp\"",
                   "write it without quotes: clamp");
    pipe_one_error("choose 91", 1, 8, "'angle' must be 90, 180 or 270, not '91'", NULL);
    pipe_one_error("choose 90px", 1, 8, "'angle' is an angle, but '90px' is a length", NULL);
    pipe_one_error("choose -90", 1, 8, "'angle' must be 90, 180 or 270, not '-90'", "write 270");
    pipe_one_error("choose 450", 1, 8, "'angle' must be 90, 180 or 270, not '450'", "write 90");
    pipe_one_error("choose depth=32bit", 1, 14, "'depth' must be 8bit, 16bit or float, not '32bit'", NULL);
    pipe_one_error("filter taps=4", 1, 13, "'taps' must be odd, not '4'", "write 3 or 5");
    pipe_one_error("filter taps=2.5", 1, 13, "'taps' must be a whole number, not '2.5'", NULL);
    pipe_one_error("filter taps={5/2}", 1, 13, "'taps' must be a whole number, not '{5/2}'", "write {round(5/2)}");
    pipe_one_error("filter taps=0", 1, 13, "'taps' must be odd, 1 to 9999, or auto, not '0'", NULL);
    pipe_one_error("filter taps=1e18", 1, 13, "'taps' must be a whole number, not '1e18'", NULL);
    pipe_one_error("filter scale=aut", 1, 14, "'scale' must be a number, or auto, not 'aut'", "did you mean 'auto'?");
    pipe_one_error("filter flip=true", 1, 13, "'flip' must be yes or no, not 'true'", "write yes");
    pipe_one_error("filter flip=0", 1, 13, "'flip' must be yes or no, not '0'", "write no");
    pipe_one_error("filter [0 -1 0; -1 5; 0 -1 0]", 1, 17, "row 2 of 'kernel' has 2 values, but row 1 has 3", NULL);
    pipe_one_error("filter [1 2; 3]", 1, 14, "row 2 of 'kernel' has 1 value, but row 1 has 2", NULL);
    pipe_one_error("filter []", 1, 8, "'kernel' is empty", NULL);
    pipe_one_error("filter [1;;2]", 1, 11, "row 2 is empty", NULL);
    pipe_one_error("filter [1 [2] 3]", 1, 11, "a list cannot hold a list", NULL);
    pipe_one_error("filter [1 x]", 1, 11, "each value of 'kernel' must be -100 to 100, not 'x'", NULL);
    pipe_one_error("filter [1 2\nnegate\nfilter [3 4]", 1, 8, "this '[' is never closed", "close it with ]");
    pipe_one_error("filter [1 2\nsoften 2px edge=mirror", 1, 8, "this '[' is never closed", "close it with ]");
    pipe_one_error("filter [1, 2]", 1, 9, "'1,' is not a number", NULL);
    pipe_one_error("filter [1 200]", 1, 11, "each value of 'kernel' must be -100 to 100, not '200'", NULL);
    pipe_one_error("filter [1 2px]", 1, 11, "'kernel' is a plain number, but '2px' is a length", NULL);
    pipe_one_error("filter 3", 1, 8, "'kernel' must be a matrix like [1 2 1; 2 4 2; 1 2 1], not '3'", "write [3]");
    pipe_one_error("combine by=@input also=@input", 1, 24, "a stage takes at most one other picture", NULL);
    pipe_one_error("combine paper", 1, 9,
                   "'by' must be a picture @name or \"file\", or a number (1 or 100% is full scale), not 'paper'",
                   "a picture is written @paper");
    pipe_one_error("combine 500%", 1, 9,
                   "'by' must be a picture @name or \"file\", or a number (1 or 100% is full scale), not '500%'", NULL);
    pipe_one_error("combine 1 clip=3px", 1, 16, "'clip' is a fraction, but '3px' is a length", NULL);
    pipe_one_error("measure name=@input", 1, 14, "'name' must be a text in double quotes, not the picture '@input'",
                   NULL);
    pipe_one_error("negate 3", 1, 8, "stage 'negate' takes no value without a name", NULL);
    pipe_one_error("param size = 2px\nsoften {$size}\nsoften size", 3, 8,
                   "'sigma' must be above 0 to 1000 px, not 'size'", "did you mean '$size'?");
}

SMP_TEST(grammar_mistakes_are_explained)
{
    pipe_one_error("soften sigma = 2px", 1, 14, "no spaces round '='", "write sigma=2px");
    pipe_one_error("soften sigma= 2px", 1, 13, "no spaces round '='", "write sigma=2px");
    pipe_one_error("soften 2px; negate", 1, 11, "one stage a line: put what follows on the next line", NULL);
    pipe_one_error("soften 2px | negate", 1, 12, "one stage a line: put what follows on the next line", NULL);
    pipe_one_error("soften 2px edge=clamp=mirror", 1, 22, "unexpected '='", NULL);
    pipe_one_error("soften 2px ]", 1, 12, "this ']' closes nothing", NULL);
    pipe_one_error("soften 2px }", 1, 12, "this '}' closes nothing", NULL);
    pipe_one_error("soften 2px \\ negate", 1, 12, "stray '\\'", NULL);
    pipe_one_error("sigma=2px", 1, 1, "a stage's name is missing before 'sigma='", NULL);
    pipe_one_error("@input", 1, 1, "a statement begins with a stage's name, not with '@input'",
                   "did you mean 'from @input'?");
    pipe_one_error("measure name=\"a", 1, 14, "this text has no closing quote on its line", "close it with \"");
    pipe_one_error("measure name=\"a\\q\"", 1, 16, "unknown escape in a text", "write \\\\ for a backslash");
    pipe_one_error("measure name=\"a\"b", 1, 17, "a blank is missing before 'b'", NULL);
    pipe_one_error("negate -> x", 1, 11, "'->' needs a name for the result, found 'x'", "write -> @x");
    pipe_one_error("negate ->", 1, 10, "'->' needs a name for the result, found the end of the line", NULL);
    pipe_one_error("negate -> @x y\nfrom @x", 1, 14, "'-> @x' ends a statement, but 'y' follows", NULL);
    pipe_one_error("from @a-b", 1, 6, "'@a-b' is not a name", NULL);
    pipe_one_error("soften $a*2", 1, 8, "'$a*2' is not a name", "arithmetic goes into braces: {$a*2}");
    pipe_one_error("negate \x01", 1, 8, "control character 0x01", NULL);
    pipe_one_error("nothing", 1, 1, "unknown stage 'nothing'", NULL);
    pipe_one_error("form @input", 1, 1, "unknown stage 'form'", "did you mean 'from'?");
    pipe_one_error("hiden", 1, 1, "unknown stage 'hiden'", NULL); /* what the planner inserts is not suggested */
    pipe_one_error("blend2px", 1, 1, "unknown stage 'blend2px'", NULL);
    pipe_one_error("blubr 2px", 1, 1, "unknown stage 'blubr'", "did you mean 'blur'? smempipe calls it: soften");
    pipe_one_error("glubr 2px", 1, 1, "unknown stage 'glubr'", NULL); /* two letters from gblur */
    pipe_one_error("gblurr 2px", 1, 1, "unknown stage 'gblurr'", "did you mean 'gblur'? smempipe calls it: soften");
}

SMP_TEST(what_others_write_is_told_in_this_language)
{
    pipe_one_error("soften(2px)", 1, 1, "unknown stage 'soften(2px)'", "write soften 2px");
    pipe_one_error("soften,2px", 1, 1, "unknown stage 'soften,2px'", "write soften 2px");
    pipe_one_error("soften\u00A02px", 1, 1, "unknown stage 'soften\u00A02px'", "a no-break space: write soften 2px");
    pipe_one_error("soften 2\u00A0px", 1, 8, "unknown unit '\u00A0px' in '2\u00A0px'",
                   "with a no-break space: write 2px");
    pipe_one_error("soften \u201C2px\u201D", 1, 8, "'sigma' must be above 0 to 1000 px, not '\u201C2px\u201D'",
                   "with a typographic quote: write 2px");
    pipe_one_error("soften \"2px\"", 1, 8, "'sigma' must be above 0 to 1000 px, not \"2px\"",
                   "write it without quotes: 2px");
    pipe_one_error("soften 2,5px", 1, 8, "unknown unit ',5px' in '2,5px'", "write 2.5px");
    pipe_one_error("soften 2px,", 1, 8, "'2px,' is not a number", "write 2px");
    pipe_one_error("soften --sigma", 1, 8, "'sigma' must be above 0 to 1000 px, not '--sigma'",
                   "without dashes: sigma=VALUE");
    pipe_one_error("soften negate", 1, 8, "'sigma' must be above 0 to 1000 px, not 'negate'",
                   "a stage: it gets a line of its own");
    pipe_one_error("soften 2px negate", 1, 12, "only one value can stand without a name",
                   "a stage: it gets a line of its own");
    pipe_one_error("negate;", 1, 7, "one stage a line: put what follows on the next line", "leave it out");
    pipe_one_error("// soften", 1, 1, "unknown stage '//'", "a comment begins with #");
    pipe_one_error("- negate", 1, 1, "unknown stage '-'", "a line begins with a stage's name");
    pipe_one_error("a.pipe", 1, 1, "unknown stage 'a.pipe'",
                   "a pipeline: smempipe run a.pipe IN OUT, or in a pipeline include \"a.pipe\"");
}

SMP_TEST(statements_are_checked)
{
    pipe_one_error("smempipe 2", 1, 10, "this is written in format version 2, which is not supported", NULL);
    pipe_one_error("smempipe one", 1, 10, "'one' is not a format version", NULL);
    pipe_one_error("smempipe", 1, 1, "'smempipe' needs a format version", NULL);
    pipe_one_error("negate\nsmempipe 1", 2, 1, "'smempipe' must be the first statement", NULL);
    pipe_one_error("smempipe 1\nsmempipe 1", 2, 1, "the format version is given twice", NULL);
    pipe_one_error("kind video", 1, 6, "'kind' must be image or audio, not 'video'", NULL);
    pipe_one_error("kind image\nkind image", 2, 1, "'kind' is given twice", NULL);
    pipe_one_error("kind image now", 1, 12, "'kind' takes image or audio and nothing else", NULL);
    pipe_one_error("light liner", 1, 7, "'light' must be encoded or linear, not 'liner'", "did you mean 'linear'?");
    pipe_one_error("light linear -> @x\nfrom @x", 1, 17, "'light' makes no picture to keep", NULL);
    pipe_one_error("from \"a.png\" -> @x\ncombine @x", 1, 17, "'from' makes no picture to keep",
                   "write by=\"a.png\" where it is wanted");
}

SMP_TEST(taps_are_made_once_and_before_use)
{
    pipe_one_error("negate -> @a\nfrom @input\nnegate -> @a\ncombine @a", 3, 11, "'@a' is made twice", NULL);
    pipe_one_error("negate -> @input", 1, 11, "'@input' is the pipeline's input", NULL);
    pipe_one_error("combine @late\nnegate -> @late", 1, 9, "there is no '@late'", NULL);
    pipe_one_error("negate -> @paper\nfrom @papr", 2, 6, "there is no '@papr'", "did you mean '@paper'?");
    pipe_one_error("from @inptu", 1, 6, "there is no '@inptu'", "did you mean '@input'?");
    pipe_one_error("from input", 1, 6, "'from' needs the @name of a result, not 'input'", "did you mean '@input'?");
    pipe_one_error("from", 1, 1, "'from' needs the @name of a result, or a file", NULL);
    /* A broken statement still makes its result: no second error for its use. */
    pipe_one_error("soften | -> @a\nfrom @a", 1, 8, "one stage a line: put what follows on the next line", NULL);
}

SMP_TEST(kinds_are_followed_through_the_chain)
{
    pipe_one_error("kind audio\nsoften 2px", 2, 1, "stage 'soften' works on a picture, but is given a sound", NULL);
    pipe_one_error("cut 440\nsoften 2px", 2, 1, "stage 'soften' works on a picture, but is given a sound", NULL);
    pipe_one_error("negate\nkind image\ncut 440", 3, 1, "stage 'cut' works on a sound, but is given a picture", NULL);
    pipe_one_error("cut 440\nfrom @input\nsoften 2px", 3, 1, "stage 'soften' works on a picture, but is given a sound",
                   NULL);
    pipe_one_error("kind audio\ndraw -> @p\nfrom @input\ncombine by=@p", 4, 12,
                   "'@p' is a picture, but 'combine' is given a sound", NULL);
    pipe_case c = pipe_good("kind audio\ncut 440\ndraw\nsoften 2px\nnegate\n");
    pipe_done(&c);
}

SMP_TEST(saves_stay_inside_the_output_folder)
{
    pipe_one_error("save \"/tmp/x.png\"", 1, 6, "the file name is absolute", NULL);
    pipe_one_error("save \"../x.png\"", 1, 6, "the file name leaves the output folder", NULL);
    pipe_one_error("save \"a/../../x.png\"", 1, 6, "the file name leaves the output folder", NULL);
    pipe_one_error("save \"a/..\"", 1, 6, "the file name leaves the output folder", NULL);
    pipe_one_error("save \"a/\"", 1, 6, "the file name names a folder", NULL);
    pipe_one_error("save \".\"", 1, 6, "the file name names a folder", NULL);
    pipe_one_error("save \"\"", 1, 6, "the file name is empty", NULL);
    pipe_one_error("save \"a\x01.png\"", 1, 6, "the file name holds a control character", NULL);
    pipe_one_error("save x.png", 1, 6, "'save' needs a file name in double quotes, not 'x.png'", "write \"x.png\"");
    pipe_one_error("save \"x.png\" quality=3", 1, 14, "'save' takes a file name in double quotes and nothing else",
                   NULL);
    pipe_one_error("save \"a/x.png\"\nnegate\nsave \"./a//x.png\"", 3, 6, "'./a//x.png' is saved twice", NULL);
    pipe_case c = pipe_good("save \"..x.png\"\nsave \"a..b/x.png\"\nsave \"...\"\n");
    pipe_done(&c);
}

SMP_TESTS_AROUND(pipe_setup, pipe_teardown)

/* Meaning of a pipeline text: nodes, taps, branches, values of every type, and the texts made of them. */
#include "suite.h"

#include "pipe/language/lex.h"
#include "pipe_case.h"

#include <math.h>

SMP_TEST(the_reference_example_parses)
{
    static const char text[] =
        "# scan-clean.pipe - make a phone photo of a page readable\n"
        "smempipe 1                                    # format version; first statement; optional\n"
        "kind image                                    # image | audio\n"
        "param paper = 35px min=3px max=200px help=\"size of the strokes\"\n"
        "\n"
        "negate\n"
        "filter [0 1 0] taps=3\n"
        "soften sigma={$paper/2} edge=mirror -> @paper     # keeps the result under a name\n"
        "from @input                                   # start a new branch\n"
        "negate\n"
        "combine by=@paper clip=0.5%\n"
        "measure name=page\n";
    pipe_case c = pipe_good(text);
    const smp_program *p = c.program;
    assert_int_equal(p->kind, SMP_IMAGE);
    assert_int_equal(p->node_count, 6);
    assert_int_equal(p->output, 5);
    static const int inputs[] = {SMP_NODE_INPUT, 0, 1, SMP_NODE_INPUT, 3, 4};
    static const char *const labels[] = {
        "negate", "filter [0 1 0] taps=3",       "soften sigma={35px/2} edge=mirror -> @paper",
        "negate", "combine by=@paper clip=0.5%", "measure name=page",
    };
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(p->nodes[i].input, inputs[i]);
        assert_int_equal(p->nodes[i].second, i == 4 ? 2 : SMP_NODE_NONE);
        assert_string_equal(p->nodes[i].label, labels[i]);
    }
    assert_string_equal(p->nodes[5].name, "page");
    assert_null(p->nodes[4].name);
    assert_int_equal(p->param_count, 1);
    assert_string_equal(p->params[0].name, "paper");
    assert_string_equal(p->params[0].text, "35px");
    assert_string_equal(p->params[0].help, "size of the strokes");
    soften_params soften;
    pipe_params(&c, 2, &soften);
    assert_true(soften.sigma == 17.5 && soften.edge == 2 && soften.truncate == 4);
    combine_params combine;
    pipe_params(&c, 4, &combine);
    assert_true(combine.by.is_tap && combine.clip == 0.005);
    pipe_done(&c);
}

SMP_TEST(an_empty_text_passes_the_input_on)
{
    static const char *const texts[] = {"", "\n\n", "# nothing", "smempipe 1\r\nkind audio\r\n", "\xEF\xBB\xBF"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        pipe_case c = pipe_good(texts[i]);
        assert_int_equal(c.program->node_count, 0);
        assert_int_equal(c.program->output, SMP_NODE_INPUT);
        pipe_done(&c);
    }
}

SMP_TEST(lines_continue_in_lists_and_after_backslashes)
{
    filter_params params;
    pipe_case c = pipe_good("filter [0 -1 0;   # first row\n"
                            "        -1 5 -1;\r\n"
                            "\n"
                            "        0 -1 0]\\\n"
                            "       scale=2 \\\n"
                            "       flip=no\n"
                            "negate");
    pipe_params(&c, 0, &params);
    static const double kernel[] = {0, -1, 0, -1, 5, -1, 0, -1, 0};
    assert_int_equal(params.kernel.rows, 3);
    assert_int_equal(params.kernel.cols, 3);
    assert_memory_equal(params.kernel.values, kernel, sizeof kernel);
    assert_true(params.scale == 2 && !params.flip && params.taps == INT64_MIN);
    assert_string_equal(c.program->nodes[0].label, "filter [0 -1 0; -1 5 -1; 0 -1 0] scale=2 flip=no");
    assert_int_equal(c.program->node_count, 2);
    pipe_done(&c);
}

SMP_TEST(a_comment_is_not_taken_for_a_color_nor_a_color_for_one)
{
    pipe_case c = pipe_good("#add\n"
                            "soften 2 # add\n"
                            "  #fade in\n"
                            "soften 2 #\n"
                            "soften 2 ## add\n"
                            "soften 2 #-- add\n"
                            "filter [0 1 0; #add\n 1 1 1; #12345\n 0 1 0]");
    assert_int_equal(c.program->node_count, 5);
    pipe_done(&c);
    static const char *const texts[] = {"soften 2 #add",          "soften 2 #fade in", "soften 2 #12345",
                                        "soften 2 #fffff0000 in", "light linear #add", "soften 2 -> @x #add\nfrom @x",
                                        "soften 2 \\\n #add",     "kind image #abc",   "soften 2 #ff",
                                        "soften 2 #gg0",          "soften 2 #redd",    "soften 2 #1 of 2",
                                        "soften 2 #\xC3\xB6l"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        c = pipe_parse(texts[i]);
        assert_int_not_equal(c.code, SMP_OK);
        assert_non_null(c.diags.items[0].note);
        assert_string_equal(c.diags.items[0].note, SMP_COLOR_OR_COMMENT);
        pipe_done(&c);
    }
}

SMP_TEST(every_type_takes_what_it_documents)
{
    pipe_case c = pipe_good("param v = 7\n"
                            "soften 2px edge=reflect truncate=3.5\n"
                            "choose 270\n"
                            "choose 180deg depth=float\n"
                            "choose angle={45*2} depth=16\n"
                            "choose depth=16bit\n"
                            "filter [1 {width/640px}; $v 50e-2] scale=auto taps=31\n"
                            "combine 50%\n"
                            "combine by=@input\n"
                            "measure name=\"a \\\"b\\\" \\\\\" text=plain bins=16\n"
                            "measure text=8bit\n");
    soften_params soften;
    pipe_params(&c, 0, &soften);
    assert_true(soften.sigma == 2 && soften.edge == 1 && soften.truncate == 3.5);
    static const choose_params chosen[] = {{2, 0}, {1, 2}, {0, 1}, {0, 1}};
    for (size_t i = 0; i < 4; i++) {
        choose_params choose;
        pipe_params(&c, 1 + i, &choose);
        assert_int_equal(choose.angle, chosen[i].angle);
        assert_int_equal(choose.depth, chosen[i].depth);
    }
    filter_params filter;
    pipe_params(&c, 5, &filter);
    static const double kernel[] = {1, 1, 7, 0.5};
    assert_int_equal(filter.kernel.rows, 2);
    assert_memory_equal(filter.kernel.values, kernel, sizeof kernel);
    assert_true(isnan(filter.scale) && filter.taps == 31 && filter.flip);
    combine_params combine;
    pipe_params(&c, 6, &combine);
    assert_true(!combine.by.is_tap && combine.by.value == 0.5);
    assert_int_equal(c.program->nodes[6].second, SMP_NODE_NONE);
    pipe_params(&c, 7, &combine);
    assert_true(combine.by.is_tap);
    assert_int_equal(c.program->nodes[7].second, SMP_NODE_INPUT);
    measure_params measure;
    pipe_params(&c, 8, &measure);
    assert_string_equal(measure.name, "a \"b\" \\");
    assert_string_equal(c.program->nodes[8].name, "a \"b\" \\");
    assert_string_equal(measure.text, "plain");
    assert_int_equal(measure.bins, 16);
    pipe_params(&c, 9, &measure);
    assert_null(measure.name);
    assert_string_equal(measure.text, "8bit");
    pipe_done(&c);
}

SMP_TEST(defaults_are_read_as_if_written)
{
    pipe_case c = pipe_good("kind audio\ncut\nmeasure\nfilter\n");
    cut_params cut;
    measure_params measure;
    filter_params filter;
    smp_shape sound = {.kind = SMP_AUDIO, .width = 1, .height = 48000, .channels = 2, .rate = 48000};
    assert_int_equal(smp_node_params(c.program, &c.program->nodes[0], &sound, NULL, &c.diags, &cut, &c.err), SMP_OK);
    assert_true(cut.cutoff == 12000 && cut.fade == 0.02 && cut.level == 0);
    pipe_params(&c, 1, &measure);
    assert_string_equal(measure.text, "a b");
    pipe_params(&c, 2, &filter);
    assert_int_equal(filter.kernel.cols, 3);
    assert_true(filter.kernel.values[1] == 1);
    pipe_done(&c);
}

SMP_TEST(what_needs_a_shape_is_checked_with_it)
{
    pipe_case c = pipe_good("soften {width/100}\nmeasure bins={height/1px}\ncombine {channels-2}\n");
    soften_params soften;
    measure_params measure;
    combine_params combine;
    pipe_params(&c, 0, &soften);
    assert_true(soften.sigma == 6.4);
    pipe_params(&c, 1, &measure);
    assert_int_equal(measure.bins, 480);
    pipe_params(&c, 2, &combine);
    assert_true(combine.by.value == 1);
    smp_shape huge = {.kind = SMP_IMAGE, .width = 200000, .height = 1, .channels = 3};
    assert_int_equal(smp_node_params(c.program, &c.program->nodes[0], &huge, NULL, &c.diags, &soften, &c.err),
                     SMP_E_PIPE);
    assert_string_equal(c.err.message, "'sigma' must be above 0 to 1000 px, not '{width/100}'");
    assert_string_equal(c.err.where, "t.pipe:1:8");
    assert_int_equal(c.diags.count, 1);
    assert_string_equal(c.diags.items[0].note, "it comes to 2000px");
    /* Without diagnostics the error says it all the same. */
    assert_int_equal(smp_node_params(c.program, &c.program->nodes[1], &huge, NULL, NULL, &measure, &c.err), SMP_E_PIPE);
    assert_string_equal(c.err.message, "'bins' must be 2 to 65536, not '{height/1px}'");
    pipe_done(&c);
}

SMP_TEST(a_picture_has_no_rate)
{
    pipe_case c = pipe_good("filter scale={rate/1Hz}\n");
    filter_params filter;
    smp_shape shape = {.kind = SMP_IMAGE, .width = 4, .height = 4, .channels = 1};
    assert_int_equal(smp_node_params(c.program, &c.program->nodes[0], &shape, NULL, &c.diags, &filter, &c.err),
                     SMP_E_PIPE);
    assert_string_equal(c.err.message, "'rate' is the sample rate of a sound; a picture has none");
    pipe_done(&c);
}

SMP_TEST(matrices_made_for_a_shape_stay_valid)
{
    pipe_case c = pipe_good("filter [{width/1px/100} 1]\n");
    filter_params first, second, again;
    smp_shape shape = {.kind = SMP_IMAGE, .width = 100, .height = 4, .channels = 1};
    assert_int_equal(smp_node_params(c.program, &c.program->nodes[0], &shape, NULL, NULL, &first, &c.err), SMP_OK);
    uint64_t live = smp_alloc_live();
    assert_int_equal(smp_node_params(c.program, &c.program->nodes[0], &shape, NULL, NULL, &again, &c.err), SMP_OK);
    assert_int_equal(smp_alloc_live(), live); /* the same numbers are kept once */
    shape.width = 200;
    assert_int_equal(smp_node_params(c.program, &c.program->nodes[0], &shape, NULL, NULL, &second, &c.err), SMP_OK);
    assert_true(first.kernel.values[0] == 1 && second.kernel.values[0] == 2);
    assert_ptr_equal(first.kernel.values, again.kernel.values);
    pipe_done(&c);
}

SMP_TEST(branches_light_and_saves_are_kept)
{
    pipe_case c = pipe_good("light linear\n"
                            "soften 2px -> @a\n"
                            "save \"deep/thumb.png\"\n"
                            "from @input\n"
                            "light encoded\n"
                            "negate\n"
                            "combine by=@a\n"
                            "combine @a\n"
                            "save \"./x y.png\"\n"
                            "from @a\n");
    const smp_program *p = c.program;
    assert_int_equal(p->nodes[0].light, SMP_LIGHT_LINEAR);
    assert_int_equal(p->nodes[1].light, SMP_LIGHT_ENCODED);
    assert_int_equal(p->nodes[1].input, SMP_NODE_INPUT);
    assert_int_equal(p->nodes[3].second, 0);
    assert_int_equal(p->output, 0);
    assert_int_equal(p->save_count, 2);
    assert_int_equal(p->saves[0].node, 0);
    assert_string_equal(p->saves[0].path, "deep/thumb.png");
    assert_int_equal(p->saves[1].node, 3);
    pipe_done(&c);
}

SMP_TEST(lines_of_the_command_line_are_a_text)
{
    static const char *const good[] = {"soften 2px", "negate"}, *const bad[] = {"soften 2px", "negat"};
    smp_program *program;
    smp_diags diags = {0};
    smp_error err;
    assert_int_equal(smp_program_parse_lines(good, 2, NULL, 0, NULL, NULL, &diags, &program, &err), SMP_OK);
    assert_int_equal(program->node_count, 2);
    smp_program_free(program);
    assert_int_equal(smp_program_parse_lines(bad, 2, NULL, 0, NULL, NULL, &diags, &program, &err), SMP_E_PIPE);
    assert_null(program);
    char *text = smp_diags_text(&diags, false);
    assert_string_equal(text, "-e:2:1: error: unknown stage 'negat'\n"
                              "   2 | negat\n"
                              "     | ^~~~~ did you mean 'negate'?\n");
    smp_free(text);
    smp_diags_free(&diags);
}

SMP_TEST(parameters_print_as_they_are_written)
{
    pipe_case c = pipe_good("soften 2px\nfilter [0 1 0;1 -4.5 1;0 1 0] flip=no\ncombine 50%\ncombine @input\n"
                            "measure name=\"a \\\"b\"\nchoose 180\n");
    static const char *const texts[] = {
        "sigma=2px edge=clamp truncate=4",
        "kernel=[0 1 0; 1 -4.5 1; 0 1 0] scale=auto taps=auto flip=no",
        "by=50% also=0 clip=0.5%",
        "by=@... also=0 clip=0.5%",
        "name=\"a \\\"b\" text=\"a b\" bins=256",
        "angle=180 depth=8bit",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char params[256];
        pipe_params(&c, i, params);
        char *text = smp_params_text(c.program->nodes[i].stage, params);
        assert_string_equal(text, texts[i]);
        smp_free(text);
    }
    pipe_done(&c);
}

SMP_TEST(default_params_need_no_program)
{
    soften_params soften = {.sigma = 1};
    filter_params filter;
    smp_error err = {0};
    assert_int_equal(smp_default_params(smp_catalog_find("soften"), &soften, &err), SMP_OK);
    assert_true(soften.sigma == 0 && soften.edge == 0 && soften.truncate == 4);
    assert_int_equal(smp_default_params(smp_catalog_find("negate"), NULL, &err), SMP_OK);
    assert_int_equal(smp_default_params(smp_catalog_find("filter"), &filter, &err), SMP_E_PROCESS);
    assert_string_equal(err.message, "stage 'filter': the default of 'kernel' lives in a program; parse one");
    assert_int_equal(smp_alloc_live(), 0);
}

SMP_TEST(a_wrong_default_is_named)
{
    static const smp_param rows[] = {{"sigma", 0, SMP_T_FLOAT, SMP_UNIT_PX, 0, 10, "3Hz", "x", NULL, 0}, {0}};
    static const smp_stage stage = {.name = "broken", .params = rows, .params_size = sizeof(double)};
    double params;
    smp_error err = {0};
    assert_int_equal(smp_default_params(&stage, &params, &err), SMP_E_PROCESS);
    assert_string_equal(err.message,
                        "stage 'broken': the default of 'sigma', '3Hz', is wrong: 'sigma' is a length, but '3Hz' is a "
                        "frequency");
}

/* Every stage of the program, not of the table of this test. */
SMP_TEST(every_stages_defaults_and_example_hold)
{
    smp_pipe_catalog = NULL;
    for (size_t i = 0; i < smp_stage_count(); i++) {
        const smp_stage *stage = smp_stage_at(i);
        bool required = false;
        for (const smp_param *param = stage->params; param && param->name; param++)
            required |= (param->flags & SMP_P_REQUIRED) != 0;
        /* Some parameters may be needed though all have defaults, one of two, say: the stage's check says so, once. */
        pipe_case c = pipe_parse(stage->name);
        const bool refused = required || (stage->check && c.code);
        if (c.code && !(refused && c.diags.count == 1))
            pipe_show(&c);
        assert_int_equal(c.code, refused ? SMP_E_PIPE : SMP_OK);
        assert_true(required || c.diags.count == (size_t)refused);
        pipe_done(&c);
        if (!stage->example)
            continue;
        c = pipe_parse(stage->example);
        if (c.code)
            pipe_show(&c);
        assert_int_equal(c.code, SMP_OK);
        pipe_done(&c);
    }
    pipe_setup(NULL);
}

/* The letters of a text of a form, a bit each. */
static unsigned letters_of(const char *text)
{
    unsigned letters = 0;
    for (const char *at = text ? text : ""; *at; at++)
        if (*at == '$' || *at == '@')
            letters |= 1U << (at[1] - 'A');
    return letters;
}

SMP_TEST(every_form_names_parameters_that_there_are)
{
    for (size_t i = 0; i < smp_stage_count(); i++) {
        const smp_stage *stage = smp_stage_at(i);
        for (const smp_form *form = stage->hints ? stage->hints->forms : NULL; form && form->values; form++) {
            assert_true(!form->means != !form->say);
            assert_int_equal(letters_of(form->means ? form->means : form->say) & ~letters_of(form->values), 0);
            for (const char *at = form->means; at && *at; at += strcspn(at, " "), at += strspn(at, " ")) {
                const size_t length = strcspn(at, "=");
                bool there = length == strlen("probability") && !memcmp(at, "probability", length);
                for (const smp_param *param = stage->params; param->name; param++)
                    there |= strlen(param->name) == length && !memcmp(param->name, at, length);
                if (!there)
                    fail_msg("%s: '%s' names no parameter", stage->name, at);
            }
        }
    }
}

/* Suggestions for other tools' names are valid: a statement, or two with "then" between them. */
SMP_TEST(every_suggestion_for_other_tools_is_taken)
{
    smp_pipe_catalog = NULL;
    for (size_t i = 0; i < smp_stage_count(); i++) {
        const smp_alias *row = smp_stage_at(i)->hints ? smp_stage_at(i)->hints->aliases : NULL;
        for (; row && row->names; row++) {
            char text[300];
            const bool tap = strstr(row->say, "@name") != NULL, words = !strncmp(row->say, "nothing: ", 9);
            if (words || !strchr(row->say, ' ')) /* the stage's name alone */
                continue;
            snprintf(text, sizeof text, "%s%s\n", tap ? "invert -> @name\nfrom @input\n" : "", row->say);
            for (char *then; (then = strstr(text, ", then "));) { /* on the next line */
                *then = '\n';
                memmove(then + 1, then + 7, strlen(then + 7) + 1);
            }
            pipe_case c = pipe_parse(text);
            if (c.code)
                pipe_show(&c);
            assert_int_equal(c.code, SMP_OK);
            pipe_done(&c);
        }
    }
    pipe_setup(NULL);
}

SMP_TESTS_AROUND(pipe_setup, pipe_teardown)

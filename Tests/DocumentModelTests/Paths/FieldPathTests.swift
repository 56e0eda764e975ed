import DocumentModel
import TestSupport
import Testing
import UTF8Text

@Suite("Field paths")
struct FieldPathTests {
    @Test(
        arguments: [
            ("a", ["a"], "a"),
            ("a.b.c", ["a", "b", "c"], "a.b.c"),
            ("_a1.B_2", ["_a1", "B_2"], "_a1.B_2"),
            ("a.`b.c`", ["a", "b.c"], "a.`b.c`"),
            ("`field-doesnt-exist-in-struct`", ["field-doesnt-exist-in-struct"], "`field-doesnt-exist-in-struct`"),
            ("`a`.`b`", ["a", "b"], "a.b"),
            (#"`a\`b`"#, ["a`b"], #"`a\`b`"#),
            (#"`a\\b`"#, [#"a\b"#], #"`a\\b`"#),
            (#"`\\\``.x"#, [#"\`"#, "x"], #"`\\\``.x"#),
            ("`1a`", ["1a"], "`1a`"),
            ("` `", [" "], "` `"),
            ("`\u{e9}`.`e\u{301}`", ["\u{e9}", "e\u{301}"], "`\u{e9}`.`e\u{301}`"),
            // The dot and its combining mark are one Swift Character, but the dot separates names here.
            ("a.`\u{301}b`", ["a", "\u{301}b"], "a.`\u{301}b`"),
            ("`a\r\nb`", ["a\r\nb"], "`a\r\nb`"),
            ("`\0`", ["\0"], "`\0`"),
            ("`$map`", ["$map"], "`$map`"),
            ("__name__", ["__name__"], "__name__"),
        ] as [(String, [UTF8Key], String)]
    )
    func `Field paths are parsed`(text: String, segments: [UTF8Key], canonical: String) throws {
        let path = try FieldPath(text)
        #expect(path.segments == segments)
        #expect(path.description.utf8.elementsEqual(canonical.utf8))
        #expect(path == (try FieldPath(segments: segments)))
        #expect(path == (try FieldPath(canonical)))
    }

    @Test(
        arguments: [
            ("", "empty string"),
            (".", "empty name"),
            (".a", "empty name"),
            ("a.", "empty name"),
            ("a..b", "empty name"),
            ("``", "empty name"),
            ("a.``", "empty name"),
            ("field-doesnt-exist", "Write it as `field-doesnt-exist`"),
            ("a b.c", "Write it as `a b`"),
            ("1a", "Write it as `1a`"),
            ("a.b[0]", "Write it as `b[0]`"),
            ("é", "Write it as `é`"),
            ("a.\u{301}b", #"Write it as `\u{301}b`"#),
            ("a\r\nb", #"Write it as `a\r\nb`"#),
            ("a`b", "must be quoted in backticks"),
            ("a.b`c`", "must be quoted in backticks"),
            ("`a", "unclosed backtick"),
            ("`", "unclosed backtick"),
            (#"`a\`"#, "unclosed backtick"),
            (#"`a\b`"#, "invalid escape sequence"),
            (#"`a\"#, "invalid escape sequence"),
            ("`a`b", "after a closing backtick"),
            ("`a``b`", "after a closing backtick"),
        ]
    )
    func `Invalid field paths are rejected with a suggestion`(text: String, words: String) throws {
        let error = try #require(throws: StatusError.self) { try FieldPath(text) }
        #expect(error.code == .invalidArgument)
        #expect(error.message.contains(words), "\(error)")
        #expect(error.field != nil)
    }

    @Test
    func `Field paths have at most 1,500 bytes, including dots`() throws {
        let name = String(repeating: "x", count: 1_500)
        #expect(try FieldPath(name).segments.count == 1)
        #expect(try FieldPath("`" + String(repeating: #"\\"#, count: 1_500) + "`").segments[0].byteCount == 1_500)
        let deep = String(repeating: "x.", count: 749)
        #expect(try FieldPath(deep + "xx").segments.count == 750)
        for text in [name + "x", "a." + name, deep + "xxx", String(repeating: "x.", count: 1 << 20)] {
            let error = try #require(throws: StatusError.self) { try FieldPath(text) }
            #expect(error.message.contains("at most 1500 bytes"))
            #expect(error.message.utf8.count < 300)
        }
    }

    @Test
    func `Literal names may have any characters, but cannot be empty`() throws {
        #expect(try FieldPath(segments: ["a.b", "`", "é"]).description == #"`a.b`.`\``.`é`"#)
        let none = try #require(throws: StatusError.self) { try FieldPath(segments: []) }
        #expect(none.message.contains("at least one name"))
        let empty = try #require(throws: StatusError.self) { try FieldPath(segments: ["a", "", "b"]) }
        #expect(empty.message.contains("index 1"))
        let long = UTF8Key(String(repeating: "x", count: 750))
        #expect(throws: StatusError.self) { try FieldPath(segments: [long, long]) }
    }

    @Test
    func `Canonical field paths round-trip`() throws {
        var random = RandomValues(generator: SeededGenerator())
        for _ in 0..<1_000 {
            let names = (0..<3).map { _ in UTF8Key(random.text() + random.pick(["`", "\\", ".", "x", "\n"])) }
            let path = try FieldPath(segments: names)
            #expect(try FieldPath(path.description) == path, "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
        }
    }

    @Test(
        arguments: [
            ("a", "a", true), ("a", "a.b", true), ("a.b", "a", false), ("a", "ab", false), ("a.b", "a.c", false),
            ("a.b", "a.b.c.d", true),
        ]
    )
    func `A path is a prefix of the paths of nested fields`(outer: String, inner: String, isPrefix: Bool) throws {
        #expect(try FieldPath(outer).isPrefix(of: FieldPath(inner)) == isPrefix)
    }

    @Test
    func `Field paths are ordered by name in byte order`() throws {
        let paths = try ["B", "a", "a.`0`", "a.b", "a.b.c", "`a-b`", "aa", "b", "`\u{e9}`"].map { try FieldPath($0) }
        #expect(paths.shuffled().sorted() == paths)
    }
}

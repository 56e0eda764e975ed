import DocumentModel
import Testing
import UTF8Text

@Suite("Status errors")
struct StatusErrorTests {
    @Test(
        arguments: [
            (1, "CANCELLED"), (2, "UNKNOWN"), (3, "INVALID_ARGUMENT"), (4, "DEADLINE_EXCEEDED"), (5, "NOT_FOUND"),
            (6, "ALREADY_EXISTS"),
            (7, "PERMISSION_DENIED"), (8, "RESOURCE_EXHAUSTED"), (9, "FAILED_PRECONDITION"), (10, "ABORTED"),
            (11, "OUT_OF_RANGE"),
            (12, "UNIMPLEMENTED"), (13, "INTERNAL"), (14, "UNAVAILABLE"), (15, "DATA_LOSS"), (16, "UNAUTHENTICATED"),
        ]
    )
    func `Status codes have gRPC's numbers and names`(number: Int, name: String) throws {
        let code = try #require(StatusCode(rawValue: number))
        #expect(code.name == name)
        #expect(StatusCode(name: name) == code)
    }

    @Test(arguments: ["", "OK", "not_found", "NOT_FOUND ", "NOT FOUND"])
    func `Unknown names have no status code`(name: String) {
        #expect(StatusCode(name: name) == nil)
        #expect(StatusCode(rawValue: 0) == nil)
        #expect(StatusCode(rawValue: 17) == nil)
    }

    @Test
    func `The description is a single line without control characters`() {
        let error = StatusError(
            .dataLoss,
            "Expected a comma.",
            path: "a/\u{1b}b",
            field: "`x\ny`[2]",
            file: .init(path: "documents/a/b.json", line: 3, column: 14)
        )
        #expect(
            error.description
                == #"DATA_LOSS: Expected a comma. (path "a/\u{1B}b"; field "`x\ny`[2]"; file "documents/a/b.json", line 3, column 14)"#
        )
        #expect(StatusError(.notFound, "No document.").description == "NOT_FOUND: No document.")
        var ofQuery = StatusError(.invalidArgument, "No.", field: "a")
        ofQuery.parameterPath = "where.and[1].op"
        #expect(ofQuery.description == #"INVALID_ARGUMENT: No. (field "a"; at where.and[1].op)"#)
    }

    @Test
    func `The field path is extended outward`() {
        let error = StatusError(.invalidArgument, "…").inside(field: "color").inside(element: 2).inside(field: "my tags")
        #expect(error.field == "`my tags`[2].color")
        #expect(StatusError(.invalidArgument, "…").inside(element: 0).inside(element: 1).field == "[1][0]")
        #expect(StatusError(.invalidArgument, "…", field: "x").inside(element: 0).field == "[0].x")
    }
}

@Suite("Excerpts")
struct ExcerptTests {
    @Test(
        arguments: [
            ("books/hitchhiker", "books/hitchhiker"),
            ("שלום 岩澤 🐵 é e\u{301}", "שלום 岩澤 🐵 é e\u{301}"),
            ("a\0\u{1b}[2J\u{7f}\u{9b}", #"a\u{0}\u{1B}[2J\u{7F}\u{9B}"#),
            ("a\r\nb\tc", #"a\r\nb\tc"#),
            ("\"\\", #"\"\\"#),
            ("\u{202e}\u{2066}\u{200f}\u{61c}", #"\u{202E}\u{2066}\u{200F}\u{61C}"#),
            ("a\u{200b}b\u{feff}c\u{ad}\u{2028}\u{a0}", #"a\u{200B}b\u{FEFF}c\u{AD}\u{2028}\u{A0}"#),
            ("\u{301}a", #"\u{301}a"#),
            ("..\u{2F}\u{301}x", #"../\u{301}x"#),
            ("\"\u{301}", #"\"\u{301}"#),
            ("\u{e000}\u{fffe}", #"\u{E000}\u{FFFE}"#),
        ]
    )
    func `Excerpts escape invisible, control and combining characters`(text: String, expected: String) {
        #expect(Excerpt(text).text.utf8.elementsEqual(expected.utf8))
        #expect(Excerpt(text).description.utf8.elementsEqual("\"\(expected)\"".utf8))
    }

    @Test
    func `Excerpts are truncated between characters`() {
        #expect(Excerpt(String(repeating: "x", count: 80)).text == String(repeating: "x", count: 80))
        #expect(Excerpt(String(repeating: "x", count: 81)).text == String(repeating: "x", count: 80) + "…")
        #expect(Excerpt(String(repeating: "é", count: 1 << 20)).text == String(repeating: "é", count: 40) + "…")
        #expect(Excerpt(String(repeating: "\u{202e}", count: 100)).text == String(repeating: #"\u{202E}"#, count: 10) + "…")
        #expect(Excerpt("abcdef", maximumBytes: 3).description == "\"abc…\"")
    }
}

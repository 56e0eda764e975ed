import DocumentModel
import TestSupport
import Testing
import UTF8Text

@Suite("Paths")
struct PathTests {
    @Test(
        arguments: [
            ("books/hitchhiker", "books", ["books", "hitchhiker"]),
            ("books/hitchhiker/reviews/r1", "books/hitchhiker/reviews", ["books", "hitchhiker", "reviews", "r1"]),
            ("a/__id7__/b/c", "a/__id7__/b", ["a", "__id7__", "b", "c"]),
            ("e\u{301}/\u{e9}", "e\u{301}", ["e\u{301}", "\u{e9}"]),
            ("a\r\n/\u{301}b", "a\r\n", ["a\r\n", "\u{301}b"]),
        ] as [(String, String, [UTF8Key])]
    )
    func `A document path has a collection, an ID and an even number of segments`(
        text: String,
        collection: String,
        segments: [UTF8Key]
    ) throws {
        let path = try DocumentPath(text)
        #expect(path.string.utf8.elementsEqual(text.utf8))
        #expect(path.description.utf8.elementsEqual(text.utf8))
        #expect(path.segments == segments)
        #expect(path.id.key == segments.last)
        #expect(path.collection == (try CollectionPath(collection)))
        #expect(path == path.collection.document(path.id))
    }

    @Test(
        arguments: [
            ("books", nil, ["books"]),
            ("books/hitchhiker/reviews", "books/hitchhiker", ["books", "hitchhiker", "reviews"]),
            ("a/b/c/__id-2__/é", "a/b/c/__id-2__", ["a", "b", "c", "__id-2__", "é"]),
        ] as [(String, String?, [UTF8Key])]
    )
    func `A collection path has a parent, an ID and an odd number of segments`(
        text: String,
        parent: String?,
        segments: [UTF8Key]
    ) throws {
        let path = try CollectionPath(text)
        #expect(path.string == text)
        #expect(path.description == text)
        #expect(path.segments == segments)
        #expect(path.id.key == segments.last)
        #expect(path.parent == (try parent.map { try DocumentPath($0) }))
        #expect(path == CollectionPath(parent: path.parent, id: path.id))
        #expect(path == path.parent?.collection(path.id) ?? path)
    }

    /// Invalid paths, with words of the expected message.
    static let illegal: [(text: String, words: String)] = [
        ("", "found an empty string"),
        ("/", "begins with a slash"),
        ("/a/b", "begins with a slash"),
        ("a/b/", "ends with a slash"),
        ("a//b", "empty ID between two slashes"),
        ("a/b//c/d", "empty ID between two slashes"),
        ("a/..", "folder"),
        ("../a", "folder"),
        ("a/./c", "folder"),
        ("..\u{2F}\u{301}x", "folder"),
        ("__id7__/a", "reserved"),
        ("a/__x__/c", "reserved"),
        ("a/b/__id7__", "reserved"),
        ("a/b\0", "NUL"),
        ("a/" + String(repeating: "x", count: 1_501), "1501"),
        ("a/b/" + String(repeating: "x/", count: 3_070) + "x", "found 6145"),
        (String(repeating: "a/b/", count: 101).dropLast() + "", "found 101"),
    ]

    @Test(arguments: illegal)
    func `Invalid paths are rejected with the reason`(text: String, words: String) throws {
        let errors = [
            try #require(throws: StatusError.self) { try DocumentPath(text) },
            try #require(throws: StatusError.self) { try CollectionPath(text) },
        ]
        for error in errors {
            #expect(error.code == .invalidArgument)
            #expect(error.message.contains(words), "\(error)")
            #expect(error.path.map { $0.utf8.count <= 90 } == true)
            #expect(error.message.utf8.count < 300)
        }
    }

    @Test
    func `A wrong number of segments is reported with the actual kind of path`() throws {
        let document = try #require(throws: StatusError.self) { try DocumentPath("books/hitchhiker/reviews") }
        #expect(document.message.contains("\"books/hitchhiker/reviews\" has 3 segments and denotes a collection"))
        #expect(document.message.contains("Add a document ID"))
        #expect(document.path == "books/hitchhiker/reviews")
        let collection = try #require(throws: StatusError.self) { try CollectionPath("books/hitchhiker") }
        #expect(collection.message.contains("\"books/hitchhiker\" has 2 segments and denotes a document"))
        let single = try #require(throws: StatusError.self) { try DocumentPath("books") }
        #expect(single.message.contains("has 1 segment and"))
    }

    @Test
    func `Control characters are escaped in errors`() throws {
        let error = try #require(throws: StatusError.self) { try DocumentPath("a/\u{202e}\u{1b}[2J/\r\n") }
        #expect(error.path == #"a/\u{202E}\u{1B}[2J/\r\n"#)
        #expect(error.message.contains(#""a/\u{202E}\u{1B}[2J/\r\n""#))
    }

    @Test
    func `Paths have at most 6 KiB and 100 collections`() throws {
        let long = String(repeating: "x", count: 1_500)
        let text = "a/\(long)/b/\(long)/c/\(long)/d/\(long)"
        let path = try DocumentPath(text + "/e/" + String(repeating: "x", count: 6_144 - text.utf8.count - 3))
        #expect(path.string.utf8.count == 6_144)
        #expect(throws: StatusError.self) { try DocumentPath(path.string + "x") }

        let deep = try DocumentPath(String(String(repeating: "a/b/", count: 100).dropLast()))
        #expect(deep.segments.count == 200)
        #expect(throws: StatusError.self) { try CollectionPath(deep.string + "/c") }
    }

    @Test
    func `Paths are equal and hashed by bytes`() throws {
        #expect(try DocumentPath("a/\u{e9}") != DocumentPath("a/e\u{301}"))
        #expect(try CollectionPath("\u{e9}") != CollectionPath("e\u{301}"))
        #expect(try DocumentPath("a/b").hashValue == CollectionPath("a").document(DocumentPath.ID("b")).hashValue)
        #expect(Set([try DocumentPath("a/b"), try DocumentPath("a/b"), try DocumentPath("a/c")]).count == 2)
    }
}

@Suite("Resource paths")
struct ResourcePathTests {
    @Test
    func `The number of segments determines the kind of path`() throws {
        #expect(try ResourcePath("books") == .collection(try CollectionPath("books")))
        #expect(try ResourcePath("books/hitchhiker") == .document(try DocumentPath("books/hitchhiker")))
        #expect(
            try ResourcePath(["books", "hitchhiker", "reviews"]) == .collection(try CollectionPath("books/hitchhiker/reviews"))
        )
        #expect(try ResourcePath(["books", "hitchhiker"]).string == "books/hitchhiker")
    }

    @Test(arguments: ["", "/", "books/", "books//reviews", "__books__"])
    func `Invalid resource paths are rejected`(text: String) {
        #expect(throws: StatusError.self) { try ResourcePath(text) }
    }

    @Test
    func `A slash in an ID is rejected`() {
        for segments: [UTF8Key] in [["books", "a/b"], ["books/hitchhiker"], []] {
            #expect(throws: StatusError.self) { try ResourcePath(segments) }
        }
    }
}

@Suite("Path order")
struct PathOrderTests {
    @Test
    func `Document paths are ordered by segment, and a prefix sorts first`() throws {
        let paths = try [
            "a/__id-2__", "a/__id7__", "a/__id7__/x/y", "a/__id12__", "a/12", "a/7", "a/b", "a/b/c/__id3__", "a/b/c/d",
            "a/b/c/d/e/f",
            "a/b/c-/d", "a/b-/c/d", "a/b0", "a-/b", "b/__id7__", "é/a",
        ].map { try DocumentPath($0) }
        #expect(paths.shuffled().sorted() == paths)
        for (left, right) in zip(paths, paths.dropFirst()) {
            #expect(left < right)
            #expect(!(right < left))
        }
    }

    @Test
    func `Collection paths are ordered the same way`() throws {
        let paths = try ["a", "a/__id7__/b", "a/__id12__/b", "a/b/c", "a/b/c/d/e", "a/b/c-", "a/b-/c", "a-", "b"]
            .map { try CollectionPath($0) }
        #expect(paths.shuffled().sorted() == paths)
    }

    @Test
    func `The order agrees with that of lists of segments`() {
        var random = RandomValues(generator: SeededGenerator())
        let paths = (0..<100).map { _ in random.path() }
        for left in paths {
            for right in paths {
                let expected = left.segments.lexicographicallyPrecedes(right.segments) { first, second in
                    guard let first = try? DocumentPath.ID(first.string), let second = try? DocumentPath.ID(second.string) else {
                        return false
                    }
                    return first < second
                }
                #expect((left < right) == expected, "\(left) < \(right); HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
                #expect((left == right) == (left.segments == right.segments))
            }
        }
    }
}

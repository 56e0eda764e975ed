import DocumentModel
import UTF8Text

/// A sequence of program runs on a data folder.
struct Scenario: Sendable {
    let runs: [Run]

    /// A run of the program.
    struct Run: Sendable {
        /// Rounds of concurrent commits; each round starts after the previous one.
        let rounds: [[[ScenarioWrite]]]
        let ending: Ending
    }

    /// The end of a run.
    enum Ending: Sendable {
        case cleanly
        /// The process is killed; the page cache survives.
        case killed
    }
}

/// A write of a scenario.
enum ScenarioWrite: Hashable, Sendable {
    case create(DocumentPath, MapValue)
    case set(DocumentPath, MapValue)
    /// Merges fields. The document must not contain maps.
    case merge(DocumentPath, MapValue)
    case delete(DocumentPath)

    var path: DocumentPath {
        switch self {
        case .create(let path, _), .set(let path, _), .merge(let path, _), .delete(let path): path
        }
    }
}

extension Scenario {
    /// Returns a scenario with all kinds of writes, individually, concurrently and in batches, with names and contents of various
    /// sizes.
    static func allWriteKinds() throws -> Scenario {
        Scenario(runs: [
            Run(rounds: try firstRun(), ending: .cleanly),
            Run(rounds: try secondRun(), ending: .killed),
            Run(rounds: try thirdRun(), ending: .cleanly),
        ])
    }

    private static func firstRun() throws -> [[[ScenarioWrite]]] {
        [
            [[.create(try guide, ["title": .string("The Hitchhiker's Guide to the Galaxy"), "parts": .integer(5)])]],
            [[.create(try review, ["stars": .integer(5)])]],
            try (1...5).map { [.create(try note($0), ["text": .string("note"), "number": .integer(Int64($0))])] },
            [
                [
                    .create(try order, ["total": .double(12.5)]), .create(try line, ["count": .integer(2)]),
                    .set(try guide, ["title": .string("Overwritten"), "parts": .integer(6)]), .delete(try note(1)),
                    .create(try long, longFields("a", bytes: 5_000)),
                ]
            ],
            [[.merge(try guide, ["parts": .integer(42), "answer": .boolean(true)])]],
            [[.set(try long, longFields("b", bytes: 9_000))], [.delete(try note(2))]],
        ]
    }

    private static func secondRun() throws -> [[[ScenarioWrite]]] {
        [
            [[.set(try guide, ["title": .string("After the restart")])]],
            [
                [.delete(try review)], [.create(try deep, ["deep": .boolean(true)])], [.create(try underLongName, ["a": .null])],
                [.set(try long, longFields("c", bytes: 700)), .set(try note(3), ["text": .string("changed twice")])],
            ],
            // The only documents of their collections, so that the folders are removed and recreated.
            [[.delete(try line), .delete(try order)]],
            [[.create(try order, ["total": .double(1.0)])], [.create(try review, ["stars": .integer(1)])]],
            [[.set(try note(3), ["text": .string("three times")]), .set(try note(3), ["text": .string("four times")])]],
        ]
    }

    private static func thirdRun() throws -> [[[ScenarioWrite]]] {
        [
            [[.merge(try note(4), ["text": .string("after the crash")]), .create(try note(6), [:])]],
            try (3...6).map { [.delete(try note($0))] },
            [[.set(try guide, ["title": .string("The End")]), .delete(try deep)]],
        ]
    }

    private static var guide: DocumentPath { get throws { try DocumentPath("books/hitchhiker") } }
    private static var review: DocumentPath { get throws { try DocumentPath("books/hitchhiker/reviews/r1") } }
    private static var order: DocumentPath { get throws { try DocumentPath("orders/o1") } }
    private static var line: DocumentPath { get throws { try DocumentPath("orders/o1/lines/l1") } }
    private static var long: DocumentPath { get throws { try DocumentPath("long/…") } }
    private static var deep: DocumentPath { get throws { try DocumentPath("a/b/c/d/e/f/g/h") } }
    /// A path with an ID that is too long for a file name.
    private static var underLongName: DocumentPath {
        get throws { try DocumentPath("\(String(repeating: "long", count: 80))/x") }
    }

    private static func note(_ number: Int) throws -> DocumentPath {
        try DocumentPath("notes/n\(number)")
    }

    /// Returns fields of about `bytes` bytes, which span several disk blocks.
    private static func longFields(_ letter: String, bytes: Int) -> MapValue {
        MapValue((0..<(bytes / 100)).map { (UTF8Key("field \($0)"), .string(String(repeating: letter, count: 80))) })
    }
}

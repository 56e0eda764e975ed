import DocumentModel
import Foundation
import TestSupport
import Testing

@testable import HearthCLI
@testable import HearthClient

@Suite("Frames as they are printed")
struct FramePrinterTests {
    private enum Step {
        case connected(isResumed: Bool)
        case frame(String)
        case broke
    }

    /// The lines that are printed for what happens.
    private func printed(_ steps: [Step]) async throws -> [String] {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "out")
            let descriptor = open(file.path, O_WRONLY | O_CREAT, 0o600)
            defer { close(descriptor) }
            var printer = FramePrinter(to: BufferedOutput(descriptor: descriptor, name: "out"))
            for step in steps {
                switch step {
                case .connected(let isResumed): try printer.take(.connected(isResumed: isResumed))
                case .frame(let text):
                    try printer.take(.frame(WatchFrame(Array(text.utf8), from: ServerAddress("http://127.0.0.1:1"))))
                case .broke: try printer.take(.interrupted(nil))
                }
            }
            return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        }
    }

    private let begin = #"{"type":"open"}"#
    private let state = #"{"type":"added","document":{}}"#
    private let current = #"{"type":"current","token":"t"}"#

    private func change(_ sequence: Int, _ number: Int) -> String {
        #"{"type":"modified","seq":\#(sequence),"n":\#(number)}"#
    }

    @Test func `come once where a stream broke off in a commit`() async throws {
        let lines = try await printed([
            .connected(isResumed: false), .frame(begin), .frame(state), .frame(current), .frame(change(5, 1)), .broke,
            .connected(isResumed: true), .frame(begin), .frame(change(5, 1)), .frame(change(5, 2)), .frame(change(6, 1)),
        ])
        #expect(lines == [begin, state, current, change(5, 1), begin, change(5, 2), change(6, 1)])
    }

    @Test func `say that a state is void that was not complete`() async throws {
        let lines = try await printed([
            .connected(isResumed: false), .frame(begin), .broke, .connected(isResumed: false), .frame(begin), .frame(state),
            .frame(change(5, 1)), .broke, .connected(isResumed: false), .frame(begin), .frame(state), .frame(change(5, 1)),
        ])
        let void = #"{"type":"reset","reason":"disconnected"}"#
        #expect(lines == [begin, begin, state, change(5, 1), void, begin, state, change(5, 1)])
    }

    @Test func `come again after a reset`() async throws {
        let reset = #"{"type":"reset","reason":"restored"}"#
        let lines = try await printed([
            .connected(isResumed: false), .frame(begin), .frame(current), .frame(change(9, 1)), .broke,
            .connected(isResumed: true), .frame(begin), .frame(reset), .frame(state), .frame(current), .frame(change(2, 1)),
        ])
        #expect(lines == [begin, current, change(9, 1), begin, reset, state, current, change(2, 1)])
    }
}

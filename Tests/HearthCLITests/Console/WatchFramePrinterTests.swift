import DocumentModel
import Foundation
import TestSupport
import Testing

@testable import HearthCLI
@testable import HearthTransport

@Suite("Printing of watch frames")
struct WatchFramePrinterTests {
    private enum Step {
        case connected(isResumed: Bool)
        case frame(String)
        case interrupted
    }

    /// Returns the lines printed for a series of events.
    private func printed(_ steps: [Step]) async throws -> [String] {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "out")
            let descriptor = Foundation.open(file.path, O_WRONLY | O_CREAT, 0o600)
            defer { close(descriptor) }
            var printer = WatchFramePrinter(to: BufferedOutput(descriptor: descriptor, name: "out"))
            for step in steps {
                switch step {
                case .connected(let isResumed): try printer.handle(.connected(isResumed: isResumed))
                case .frame(let text):
                    try printer.handle(.frame(WatchFrame(Array(text.utf8), from: ServerAddress("http://127.0.0.1:1"))))
                case .interrupted: try printer.handle(.interrupted(nil))
                }
            }
            return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        }
    }

    private let open = #"{"type":"open"}"#
    private let state = #"{"type":"added","document":{}}"#
    private let current = #"{"type":"current","token":"t"}"#

    private func change(_ sequence: Int, _ number: Int) -> String {
        #"{"type":"modified","seq":\#(sequence),"n":\#(number)}"#
    }

    @Test func `Prints each change once when a stream is interrupted within a commit`() async throws {
        let lines = try await printed([
            .connected(isResumed: false), .frame(open), .frame(state), .frame(current), .frame(change(5, 1)), .interrupted,
            .connected(isResumed: true), .frame(open), .frame(change(5, 1)), .frame(change(5, 2)), .frame(change(6, 1)),
        ])
        #expect(lines == [open, state, current, change(5, 1), open, change(5, 2), change(6, 1)])
    }

    @Test func `Prints a reset when an incomplete state is discarded`() async throws {
        let lines = try await printed([
            .connected(isResumed: false), .frame(open), .interrupted, .connected(isResumed: false), .frame(open), .frame(state),
            .frame(change(5, 1)), .interrupted, .connected(isResumed: false), .frame(open), .frame(state), .frame(change(5, 1)),
        ])
        let reset = #"{"type":"reset","reason":"disconnected"}"#
        #expect(lines == [open, open, state, change(5, 1), reset, open, state, change(5, 1)])
    }

    @Test func `Prints the state again after a reset`() async throws {
        let reset = #"{"type":"reset","reason":"restored"}"#
        let lines = try await printed([
            .connected(isResumed: false), .frame(open), .frame(current), .frame(change(9, 1)), .interrupted,
            .connected(isResumed: true), .frame(open), .frame(reset), .frame(state), .frame(current), .frame(change(2, 1)),
        ])
        #expect(lines == [open, current, change(9, 1), open, reset, state, current, change(2, 1)])
    }
}

import DocumentModel
import HearthTransport
import StrictJSON
import UTF8Text

/// Prints the watch frames of a target across reconnects, each change once.
struct WatchFramePrinter {
    private var output: BufferedOutput
    private var position = Position()
    private var state = State.unknown
    private var hasConnected = false

    /// The part of the target's initial state that has been printed.
    private enum State {
        case unknown
        case incomplete
        case complete
    }

    /// The position of the last printed change. A stream that was interrupted within a commit resumes before that commit.
    fileprivate struct Position: Comparable {
        var sequence: UInt64 = 0
        var number = 0

        static func < (left: Position, right: Position) -> Bool {
            (left.sequence, left.number) < (right.sequence, right.number)
        }
    }

    /// Creates a printer that writes frames to `output`.
    init(to output: BufferedOutput = .standard()) {
        self.output = output
    }

    /// Prints the frame of an event. Reports interruptions on standard error.
    ///
    /// - Throws: The connection error if there has been no connection yet.
    mutating func handle(_ event: WatchEvent) throws(StatusError) {
        switch event {
        case .connected(let isResumed):
            hasConnected = true
            guard !isResumed else { return }
            if state != .unknown { try write(Array(#"{"type":"reset","reason":"disconnected"}"#.utf8)) }
            resetState()
        case .frame(let frame):
            try print(frame)
        case .interrupted(let error):
            guard let error else { return }
            guard hasConnected else { throw error }
            Console.standardError.report("\(error.message) Reconnecting.")
        }
    }

    private mutating func print(_ frame: WatchFrame) throws(StatusError) {
        switch frame.kind {
        case .reset: resetState()
        case .added, .modified, .removed, .deleted:
            if state == .unknown { state = .incomplete }
            guard let changePosition = Position(of: frame) else { break }
            guard position < changePosition else { return }
            position = changePosition
        case .current: state = .complete
        default: break
        }
        try write(frame.line)
    }

    private mutating func resetState() {
        position = Position()
        state = .unknown
    }

    private mutating func write(_ line: [UInt8]) throws(StatusError) {
        try output.writeLine(line)
        try output.flush()
    }
}

extension WatchFramePrinter.Position {
    /// The position of a change; `nil` for a frame of the initial state.
    fileprivate init?(of frame: WatchFrame) {
        guard let sequence = frame.sequence, let number = frame.number else { return nil }
        self.init(sequence: sequence, number: number)
    }
}

import DocumentModel
import HearthClient
import StrictJSON

/// Prints the frames of a target that is followed over any number of streams, no change twice.
struct FramePrinter {
    private var output: BufferedOutput
    private var position = Position()
    private var state = State.unknown
    private var hasConnected = false

    /// How much of the target's state is printed, with which all begins.
    private enum State {
        case unknown
        case incomplete
        case complete
    }

    /// The last change that was printed: a stream that broke off in a commit is resumed before it.
    fileprivate struct Position: Comparable {
        var sequence: Int64 = 0
        var number: Int64 = 0

        static func < (left: Position, right: Position) -> Bool {
            (left.sequence, left.number) < (right.sequence, right.number)
        }
    }

    /// Makes a printer.
    ///
    /// - Parameter output: Where the frames go.
    init(to output: BufferedOutput = .standard()) {
        self.output = output
    }

    /// Prints what has happened. Breaks are told on standard error.
    ///
    /// - Throws: The reason when there was no server in the first place.
    mutating func take(_ event: WatchEvent) throws(StatusError) {
        switch event {
        case .connected(let isResumed):
            hasConnected = true
            guard !isResumed else { return }
            if state != .unknown { try write(Array(#"{"type":"reset","reason":"disconnected"}"#.utf8)) }
            beginAnew()
        case .frame(let frame):
            try print(frame)
        case .interrupted(let error):
            guard let error else { return }
            guard hasConnected else { throw error }
            Console.standardError.report("\(error.message) Trying again.")
        }
    }

    private mutating func print(_ frame: WatchFrame) throws(StatusError) {
        switch frame.kind {
        case .reset: beginAnew()
        case .added, .modified, .removed, .deleted:
            if state == .unknown { state = .incomplete }
            guard let place = Position(of: frame) else { break }
            guard position < place else { return }
            position = place
        case .current: state = .complete
        default: break
        }
        try write(frame.line)
    }

    private mutating func beginAnew() {
        position = Position()
        state = .unknown
    }

    private mutating func write(_ line: [UInt8]) throws(StatusError) {
        try output.writeLine(line)
        try output.flush()
    }
}

extension FramePrinter.Position {
    /// Nil for a frame that is part of an initial state.
    fileprivate init?(of frame: WatchFrame) {
        guard case .integer(let sequence)? = frame.json["seq"]?.number, case .integer(let number)? = frame.json["n"]?.number
        else { return nil }
        self.init(sequence: sequence, number: number)
    }
}

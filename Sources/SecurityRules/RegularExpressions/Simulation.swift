internal import UTF8Text

/// A simulation of all states of an automaton at once, over one text.
///
/// The threads of a position are kept in the order of preference, so that the first one that matches is the match that a
/// backtracking matcher would find.
struct Simulation {
    private let automaton: Automaton
    private let text: [UInt8]
    private var current = Threads()
    private var next = Threads()
    /// The instructions that are to be followed at a position, the most preferred one last.
    private var pending: [Int] = []
    /// The position at which each instruction was last followed, plus 1.
    private var marks: [Int]
    private var steps = 0

    /// The threads at a position that wait for a scalar or match.
    private struct Threads {
        var instructions: [Int] = []
        /// The position at which each thread's match starts.
        var starts: [Int] = []

        mutating func removeAll() {
            instructions.removeAll(keepingCapacity: true)
            starts.removeAll(keepingCapacity: true)
        }
    }

    init(_ automaton: Automaton, _ text: UTF8Key) {
        self.automaton = automaton
        self.text = Array(text.utf8)
        marks = Array(repeating: 0, count: automaton.instructions.count)
    }

    /// Returns whether the whole text matches.
    mutating func matchesWhole(_ meter: inout Meter) throws(EvaluationError) -> Bool {
        begin()
        add(0, start: 0, at: 0)
        swap(&current, &next)
        var position = 0
        while position < text.count, !current.instructions.isEmpty {
            let (scalar, end) = decode(at: position)
            for thread in current.instructions.indices {
                advance(thread, over: scalar, to: end)
            }
            try finishStep(&meter)
            position = end
        }
        try meter.charge(steps)
        return position == text.count
            && current.instructions.contains { if case .match = automaton.instructions[$0] { true } else { false } }
    }

    /// Returns the range of the first match at or after a position; of several there, the preferred one.
    mutating func firstMatch(from start: Int, _ meter: inout Meter) throws(EvaluationError) -> Range<Int>? {
        begin()
        var match: Range<Int>?
        var position = start
        while true {
            if match == nil {
                // The threads that start here are the least preferred ones.
                swap(&current, &next)
                add(0, start: position, at: position)
                swap(&current, &next)
            }
            if current.instructions.isEmpty, match != nil { break }
            let (scalar, end): (Unicode.Scalar?, Int) = position < text.count ? decode(at: position) : (nil, position)
            for thread in current.instructions.indices {
                if case .match = automaton.instructions[current.instructions[thread]] {
                    match = current.starts[thread]..<position
                    break
                }
                if let scalar { advance(thread, over: scalar, to: end) }
            }
            try finishStep(&meter)
            if scalar == nil { break }
            position = end
        }
        return match
    }

    private mutating func begin() {
        current.removeAll()
        next.removeAll()
        for index in marks.indices { marks[index] = 0 }
        steps = automaton.instructions.count
    }

    private mutating func finishStep(_ meter: inout Meter) throws(EvaluationError) {
        try meter.charge(steps + current.instructions.count + 1)
        steps = 0
        swap(&current, &next)
        next.removeAll()
    }

    /// Moves a thread over a scalar, if its instruction accepts it.
    private mutating func advance(_ thread: Int, over scalar: Unicode.Scalar, to end: Int) {
        let instruction = current.instructions[thread]
        let accepts: Bool =
            switch automaton.instructions[instruction] {
            case .scalar(let expected): scalar == expected
            case .scalars(let index): automaton.classes[index].contains(scalar)
            default: false
            }
        if accepts { add(instruction + 1, start: current.starts[thread], at: end) }
    }

    /// Adds the threads that an instruction leads to without a scalar.
    private mutating func add(_ instruction: Int, start: Int, at position: Int) {
        pending.append(instruction)
        while let instruction = pending.popLast() {
            guard marks[instruction] != position + 1 else { continue }
            marks[instruction] = position + 1
            steps += 1
            switch automaton.instructions[instruction] {
            case .jump(let target):
                pending.append(target)
            case .split(let first, let second):
                pending.append(second)
                pending.append(first)
            case .assertion(let assertion):
                if holds(assertion, at: position) { pending.append(instruction + 1) }
            case .scalar, .scalars, .match:
                next.instructions.append(instruction)
                next.starts.append(start)
            }
        }
    }

    private func holds(_ assertion: RegularExpressionSyntax.Assertion, at position: Int) -> Bool {
        switch assertion {
        case .startOfText: position == 0
        case .endOfText: position == text.count
        case .startOfLine: position == 0 || text[position - 1] == UInt8(ascii: "\n")
        case .endOfLine: position == text.count || text[position] == UInt8(ascii: "\n")
        case .wordBoundary: isWord(position - 1) != isWord(position)
        case .notWordBoundary: isWord(position - 1) == isWord(position)
        }
    }

    /// Returns whether there is an ASCII letter, digit or underscore. A byte of a longer scalar is none.
    private func isWord(_ index: Int) -> Bool {
        text.indices.contains(index) && text[index].isIdentifierPart
    }

    /// Returns the offset after the scalar at an offset, or an offset beyond the end.
    func offset(after position: Int) -> Int {
        position < text.count ? decode(at: position).end : position + 1
    }

    /// Decodes the scalar at an offset of the text, which is valid UTF-8.
    private func decode(at start: Int) -> (scalar: Unicode.Scalar, end: Int) {
        let first = text[start]
        if first < 0x80 { return (Unicode.Scalar(first), start + 1) }
        let length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
        var value = UInt32(first) & (0x7f >> UInt32(length))
        for index in start + 1..<start + length { value = value << 6 | UInt32(text[index] & 0x3f) }
        return (Unicode.Scalar(value) ?? "\u{FFFD}", start + length)
    }
}

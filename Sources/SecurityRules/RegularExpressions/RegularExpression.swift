internal import UTF8Text

/// A regular expression with the syntax and the meaning of RE2, matched in time linear in the text.
///
/// There are no back-references and no look-around. Texts are sequences of Unicode scalars. It is matched by simulating an
/// automaton, so that no text makes it slow: a step for each scalar and each state at most.
struct RegularExpression: Sendable {
    /// A syntax error of a regular expression.
    struct SyntaxError: Error, Hashable {
        let message: String
    }

    let automaton: Automaton

    /// Compiles a pattern.
    init(_ pattern: String) throws(SyntaxError) {
        automaton = try Automaton(RegularExpressionParser.parse(pattern))
    }

    /// The number of states, which bounds the work for each scalar.
    var size: Int { automaton.instructions.count }
}

extension RegularExpression {
    /// Returns whether the whole text matches.
    func matchesWhole(_ text: UTF8Key, _ meter: inout Meter) throws(EvaluationError) -> Bool {
        var simulation = Simulation(automaton, text)
        return try simulation.matchesWhole(&meter)
    }

    /// Returns the text with each match replaced. The replacement is literal.
    func replace(_ text: UTF8Key, with replacement: UTF8Key, _ meter: inout Meter) throws(EvaluationError) -> UTF8Key {
        var result: [UInt8] = []
        var end = 0
        let bytes = Array(text.utf8)
        for match in try matches(in: text, &meter) {
            try meter.charge(match.lowerBound - end + replacement.byteCount)
            result += bytes[end..<match.lowerBound]
            result += replacement.utf8
            end = match.upperBound
        }
        result += bytes[end...]
        return UTF8Key(String(decoding: result, as: UTF8.self))
    }

    /// Returns the parts of the text between matches. Parts at the ends may be empty, but not beside an empty match there.
    func split(_ text: UTF8Key, _ meter: inout Meter) throws(EvaluationError) -> [UTF8Key] {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty else { return [text] }
        var parts: [UTF8Key] = []
        var start = 0
        var end = 0
        func part(_ range: Range<Int>) -> UTF8Key { UTF8Key(String(decoding: bytes[range], as: UTF8.self)) }
        for match in try matches(in: text, &meter) {
            end = match.lowerBound
            if match.upperBound != 0 { parts.append(part(start..<end)) }
            start = match.upperBound
        }
        if end != bytes.count { parts.append(part(start..<bytes.count)) }
        return parts
    }

    /// Returns the ranges of all matches that do not overlap. An empty one is not directly after another one.
    private func matches(in text: UTF8Key, _ meter: inout Meter) throws(EvaluationError) -> [Range<Int>] {
        var simulation = Simulation(automaton, text)
        var matches: [Range<Int>] = []
        var position = 0
        while position <= text.byteCount, let match = try simulation.firstMatch(from: position, &meter) {
            try meter.charge(1)
            if match.isEmpty {
                if matches.last?.upperBound != match.lowerBound { matches.append(match) }
                position = simulation.offset(after: match.upperBound)
            } else {
                matches.append(match)
                position = match.upperBound
            }
        }
        return matches
    }
}

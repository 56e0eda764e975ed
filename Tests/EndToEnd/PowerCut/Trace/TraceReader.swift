/// Parses the lines of a trace into system calls, in the order in which they returned.
///
/// A call that overlaps with a call of another thread has two lines: `name(arguments <unfinished ...>`, and later
/// `<... name resumed>arguments) = result`. Calls that never returned, because the process was killed, are omitted.
struct TraceReader {
    private var unfinished: [Int: (begin: Int, start: [UInt8])] = [:]
    private var lineNumber = 0

    /// Returns all calls of a trace.
    static func calls(in trace: [UInt8]) throws(SystemCall.SyntaxError) -> [SystemCall] {
        var reader = TraceReader()
        var calls: [SystemCall] = []
        for line in trace.split(separator: UInt8(ascii: "\n")) {
            if let call = try reader.read(line) { calls.append(call) }
        }
        return calls
    }

    /// Parses the next line; returns the call that it completes, if any.
    mutating func read(_ line: ArraySlice<UInt8>) throws(SystemCall.SyntaxError) -> SystemCall? {
        lineNumber += 1
        let digits = line.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let thread = Int(String(decoding: digits, as: UTF8.self)) else { throw SystemCall.SyntaxError(line) }
        let text = line[digits.endIndex...].drop { $0 == UInt8(ascii: " ") }
        // Signals and thread exits.
        if text.starts(with: "+++".utf8) || text.starts(with: "---".utf8) { return nil }
        if text.suffix(Self.unfinishedMark.count).elementsEqual(Self.unfinishedMark) {
            unfinished[thread] = (lineNumber, Array(text.dropLast(Self.unfinishedMark.count)))
            return nil
        }
        // The thread exited before strace could read the call.
        if text.suffix(Self.detachedMark.count).elementsEqual(Self.detachedMark) {
            unfinished[thread] = nil
            return nil
        }
        guard text.starts(with: "<... ".utf8) else { return try call(text, begin: lineNumber) }
        guard let (begin, start) = unfinished.removeValue(forKey: thread), let mark = text.firstIndex(of: UInt8(ascii: ">"))
        else {
            throw SystemCall.SyntaxError(line)
        }
        return try call((start + text[(mark + 1)...])[...], begin: begin)
    }

    private func call(_ text: ArraySlice<UInt8>, begin: Int) throws(SystemCall.SyntaxError) -> SystemCall {
        var call = try SystemCall(text)
        call.begin = begin
        call.end = lineNumber
        return call
    }

    private static let unfinishedMark = Array(" <unfinished ...>".utf8)
    private static let detachedMark = Array(" <detached ...>".utf8)
}

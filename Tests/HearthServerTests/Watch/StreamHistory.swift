import HearthService
import StrictJSON
import Testing

/// What a client of a stream knows from the bytes that it got over all its connections, and whether they keep the contract of
/// a watch: ordered, unique, reliable, atomic, resumable and bookmarkable.
///
/// A connection may be cut at any byte. What came after the last token does not count then, and comes again.
struct StreamHistory {
    /// The state as of a token.
    struct State {
        /// The documents, as they stand in the frames, by path.
        var documents: [UTF8Key: JSONNode] = [:]
        /// The paths in the order of the result, of a query that has one.
        var ranking: [UTF8Key] = []
    }

    /// The state that was last complete.
    private(set) var state = State()
    private(set) var token: String?
    private(set) var sequence: Int64 = 0
    private(set) var faults: [String] = []
    private(set) var cutCount = 0
    /// The types of all frames that came whole.
    private(set) var types: [String] = []
    /// The state as of the last frame.
    private var pending = State()
    private var isCurrent = false
    private var last: (sequence: Int64, number: Int64, count: Int64)?
    private var partial: [UInt8] = []
    private let format: String
    /// Says what is wrong with a state that a token stands for; nil when nothing is.
    private let check: @Sendable (State) -> String?

    init(format: String, check: @escaping @Sendable (State) -> String? = { _ in nil }) {
        self.format = format
        self.check = check
    }

    /// Begins a connection, which goes on after the last token.
    mutating func connect() {
        pending = state
        partial = []
        last = nil
        isCurrent = token != nil
    }

    /// Ends a connection in the middle of whatever it was sending.
    mutating func cut() {
        cutCount += 1
    }

    /// Takes the next bytes of the body.
    mutating func take(_ bytes: [UInt8]) {
        partial += bytes
        let end: [UInt8] = format == "sse" ? [10, 10] : [10]
        while let range = partial.firstRange(of: end) {
            let message = Array(partial[..<range.lowerBound])
            partial.removeSubrange(..<range.upperBound)
            takeMessage(message)
        }
    }

    private mutating func takeMessage(_ message: [UInt8]) {
        var json = message[...]
        var event: String?
        var id: String?
        if format == "sse" {
            json = []
            for line in message.split(separator: 10) {
                if line.contains(13) { faults.append("a bare carriage return") }
                let value = line.drop { $0 != UInt8(ascii: ":") }.dropFirst(2)
                switch String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self) {
                case "data": json += value
                case "event": event = String(decoding: value, as: UTF8.self)
                case "id": id = String(decoding: value, as: UTF8.self)
                default: faults.append("an unknown field")
                }
            }
        }
        guard let frame = try? JSONText(Array(json)).root, let type = frame["type"]?.string else {
            faults.append("not a frame: \(String(decoding: message, as: UTF8.self))")
            return
        }
        types.append(type)
        if format == "sse", event != type || id != frame["token"]?.string { faults.append("\(type) as \(event ?? "none")") }
        take(type, frame)
    }

    private mutating func take(_ type: String, _ frame: JSONNode) {
        let frameSequence = frame.integer("seq")
        switch type {
        case "open": break
        case "added" where !isCurrent: takeChange("added", frame)
        case "added", "modified", "removed", "deleted":
            guard let next = frameSequence, let number = frame.integer("n"), let count = frame.integer("of") else {
                return faults.append("\(type) without a place")
            }
            if next <= sequence { faults.append("\(type) \(next) after the token of \(sequence)") }
            if let last, last.number < last.count, last.sequence != next { faults.append("\(last) was not complete") }
            let expected = last.map { $0.sequence == next ? $0.number + 1 : 1 } ?? 1
            if number != expected || (last.map { $0.sequence > next } ?? false) {
                faults.append("\(number) of \(next) after \(last as Any)")
            }
            last = (next, number, count)
            takeChange(type, frame)
            // There is nothing to go on from before the state is complete.
            if (frame["token"] != nil) != (isCurrent && number == count) { faults.append("a token at \(number) of \(count)") }
            if isCurrent, number == count { complete(next, frame) }
        case "current", "checkpoint":
            if let count = frame.integer("count"), count != pending.documents.count { faults.append("\(type) of \(count)") }
            if type == "checkpoint", let last, last.number < last.count { faults.append("a checkpoint within a commit") }
            if let next = frameSequence { complete(next, frame) }
            isCurrent = true
        case "reset":
            pending = State()
            isCurrent = false
            last = nil
            sequence = 0
        case "end": break
        default: faults.append("unknown: \(type)")
        }
    }

    private mutating func takeChange(_ type: String, _ frame: JSONNode) {
        guard let path = (frame["document"]?["path"] ?? frame["path"])?.string.map({ UTF8Key($0) }) else {
            return faults.append("\(type) without a path")
        }
        let isKnown = pending.documents[path] != nil
        if isKnown == (type == "added") { faults.append("\(type) \(path), which is \(isKnown ? "" : "not ")known") }
        // What a change was made of is what the change before it has made.
        if let before = frame["before"], let known = pending.documents[path], !before.rawBytes.elementsEqual(known.rawBytes) {
            faults.append("a hole before \(type) \(path)")
        }
        pending.documents[path] = frame["document"]
        if let index = frame.integer("oldIndex").map(Int.init) {
            if pending.ranking.indices.contains(index), pending.ranking[index] == path {
                pending.ranking.remove(at: index)
            } else {
                faults.append("\(path) is not at \(index)")
            }
        }
        if let index = frame.integer("newIndex").map(Int.init) {
            if index <= pending.ranking.count {
                pending.ranking.insert(path, at: index)
            } else {
                faults.append("\(path) can't be at \(index)")
            }
        }
    }

    private mutating func complete(_ next: Int64, _ frame: JSONNode) {
        guard let token = frame["token"]?.string else { return faults.append("no token") }
        if next < sequence { faults.append("\(next) after \(sequence)") }
        if token.utf8.count >= 64 { faults.append("a token of \(token.utf8.count) bytes") }
        if let fault = check(pending) { faults.append("at \(next): \(fault)") }
        (self.token, sequence, state) = (token, next, pending)
    }
}

extension JSONNode {
    fileprivate func integer(_ key: UTF8Key) -> Int64? {
        if case .integer(let integer)? = self[key]?.number { integer } else { nil }
    }
}

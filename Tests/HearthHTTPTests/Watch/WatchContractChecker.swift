import HearthAPI
import StrictJSON
import Testing
import UTF8Text

/// A checker of the watch contract: it parses the bytes that a client receives over all its connections, and verifies that changes
/// are ordered, unique, complete, atomic and resumable.
///
/// A connection may be cut at any byte. Frames after the last resume token are then discarded and are sent again.
struct WatchContractChecker {
    /// The state as of a token.
    struct State {
        /// The documents in their frame encoding, by path.
        var documents: [UTF8Key: JSONNode] = [:]
        /// The paths in result order, for a query with an order.
        var ranking: [UTF8Key] = []
    }

    /// The last complete state.
    private(set) var state = State()
    private(set) var token: String?
    private(set) var sequence: Int64 = 0
    private(set) var violations: [String] = []
    private(set) var cutCount = 0
    /// The types of all complete frames.
    private(set) var types: [String] = []
    /// The state as of the last frame.
    private var pending = State()
    private var isCurrent = false
    private var last: (sequence: Int64, number: Int64, count: Int64)?
    private var partial: [UInt8] = []
    private let format: String
    /// Checks the state at a token; returns a violation or `nil`.
    private let check: @Sendable (State) -> String?

    init(format: String, check: @escaping @Sendable (State) -> String? = { _ in nil }) {
        self.format = format
        self.check = check
    }

    /// Starts a connection that resumes after the last token.
    mutating func connect() {
        pending = state
        partial = []
        last = nil
        isCurrent = token != nil
    }

    /// Records that a connection was cut.
    mutating func cut() {
        cutCount += 1
    }

    /// Processes received bytes of the body.
    mutating func receive(_ bytes: [UInt8]) {
        partial += bytes
        let end: [UInt8] = format == "sse" ? [10, 10] : [10]
        while let range = partial.firstRange(of: end) {
            let message = Array(partial[..<range.lowerBound])
            partial.removeSubrange(..<range.upperBound)
            processMessage(message)
        }
    }

    private mutating func processMessage(_ message: [UInt8]) {
        var json = message[...]
        var event: String?
        var id: String?
        if format == "sse" {
            json = []
            for line in message.split(separator: 10) {
                if line.contains(13) { violations.append("a bare carriage return") }
                let value = line.drop { $0 != UInt8(ascii: ":") }.dropFirst(2)
                switch String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self) {
                case "data": json += value
                case "event": event = String(decoding: value, as: UTF8.self)
                case "id": id = String(decoding: value, as: UTF8.self)
                default: violations.append("an unknown field")
                }
            }
        }
        guard let frame = try? JSONText(Array(json)).root, let type = frame["type"]?.string else {
            violations.append("not a frame: \(String(decoding: message, as: UTF8.self))")
            return
        }
        types.append(type)
        if format == "sse", event != type || id != frame["token"]?.string { violations.append("\(type) as \(event ?? "none")") }
        process(type, frame)
    }

    private mutating func process(_ type: String, _ frame: JSONNode) {
        let frameSequence = frame.integer("seq")
        switch type {
        case "open": break
        case "added" where !isCurrent: processChange("added", frame)
        case "added", "modified", "removed", "deleted":
            guard let next = frameSequence, let number = frame.integer("n"), let count = frame.integer("of") else {
                return violations.append("\(type) without sequence and position")
            }
            if next <= sequence { violations.append("\(type) \(next) after the token of \(sequence)") }
            if let last, last.number < last.count, last.sequence != next { violations.append("\(last) was not complete") }
            let expected = last.map { $0.sequence == next ? $0.number + 1 : 1 } ?? 1
            if number != expected || (last.map { $0.sequence > next } ?? false) {
                violations.append("\(number) of \(next) after \(last as Any)")
            }
            last = (next, number, count)
            processChange(type, frame)
            // Before the initial state is complete, there is nothing to resume from.
            if (frame["token"] != nil) != (isCurrent && number == count) { violations.append("a token at \(number) of \(count)") }
            if isCurrent, number == count { complete(next, frame) }
        case "current", "checkpoint":
            if let count = frame.integer("count"), count != pending.documents.count { violations.append("\(type) of \(count)") }
            if type == "checkpoint", let last, last.number < last.count { violations.append("a checkpoint within a commit") }
            if let next = frameSequence { complete(next, frame) }
            isCurrent = true
        case "reset":
            pending = State()
            isCurrent = false
            last = nil
            sequence = 0
        case "end": break
        default: violations.append("unknown: \(type)")
        }
    }

    private mutating func processChange(_ type: String, _ frame: JSONNode) {
        guard let path = (frame["document"]?["path"] ?? frame["path"])?.string.map({ UTF8Key($0) }) else {
            return violations.append("\(type) without a path")
        }
        let isKnown = pending.documents[path] != nil
        if isKnown == (type == "added") { violations.append("\(type) \(path), which is \(isKnown ? "" : "not ")known") }
        // The before-image of a change is the after-image of the previous one.
        if let before = frame["before"], let known = pending.documents[path], !before.rawBytes.elementsEqual(known.rawBytes) {
            violations.append("a missing change before \(type) \(path)")
        }
        pending.documents[path] = type == "removed" ? nil : frame["document"]
        if let index = frame.integer("oldIndex").map(Int.init) {
            if pending.ranking.indices.contains(index), pending.ranking[index] == path {
                pending.ranking.remove(at: index)
            } else {
                violations.append("\(path) is not at \(index)")
            }
        }
        if let index = frame.integer("newIndex").map(Int.init) {
            if index <= pending.ranking.count {
                pending.ranking.insert(path, at: index)
            } else {
                violations.append("\(path) cannot be at \(index)")
            }
        }
    }

    private mutating func complete(_ next: Int64, _ frame: JSONNode) {
        guard let token = frame["token"]?.string else { return violations.append("no token") }
        if next < sequence { violations.append("\(next) after \(sequence)") }
        if token.utf8.count >= 64 { violations.append("a token of \(token.utf8.count) bytes") }
        if let violation = check(pending) { violations.append("at \(next): \(violation)") }
        (self.token, sequence, state) = (token, next, pending)
    }
}

extension JSONNode {
    fileprivate func integer(_ key: UTF8Key) -> Int64? {
        if case .integer(let integer)? = self[key]?.number { integer } else { nil }
    }
}

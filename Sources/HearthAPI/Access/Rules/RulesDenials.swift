package import SecurityRules
package import UTF8Text

/// The number of requests that rules have denied, by the statement that did not allow them. Contains nothing of the requests.
package struct RulesDenials: Sendable {
    /// The statements and method of denied requests.
    package struct Reason: Hashable, Sendable {
        /// The method.
        package let method: RequestMethod
        /// The line of the last statement that was tried; `nil` if none is about the path and method.
        package let line: Int?
    }

    /// The version of the rules that denied them.
    package private(set) var version: UTF8Key = ""
    /// The number of denied requests.
    package private(set) var counts: [Reason: Int] = [:]

    /// The denials, most frequent first.
    package var mostFrequentFirst: [(reason: Reason, count: Int)] {
        counts.map { (reason: $0.key, count: $0.value) }.sorted { left, right in
            (right.count, left.reason.line ?? 0, left.reason.method.rawValue)
                < (left.count, right.reason.line ?? 0, right.reason.method.rawValue)
        }
    }

    /// Records a denial. Those of an earlier version are dropped.
    mutating func record(_ decision: RulesDecision, of version: UTF8Key) {
        if version != self.version { self = RulesDenials(version: version) }
        counts[Reason(method: decision.method, line: decision.denials?.last?.statement.line), default: 0] += 1
    }

    private init(version: UTF8Key) {
        self.version = version
    }

    init() {}
}

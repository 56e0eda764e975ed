package import DocumentModel
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
    /// The denied requests of one reason.
    package struct Denied: Sendable {
        package let reason: Reason
        package fileprivate(set) var count: Int
        /// The time of the last one.
        package fileprivate(set) var lastTime: Timestamp
    }

    private var denied: [Reason: Denied] = [:]

    /// The denials, most frequent first.
    package var mostFrequentFirst: [Denied] {
        denied.values.sorted { left, right in
            (right.count, left.reason.line ?? 0, left.reason.method.rawValue)
                < (left.count, right.reason.line ?? 0, right.reason.method.rawValue)
        }
    }

    /// Records a denial. Those of an earlier version are dropped.
    mutating func record(_ decision: RulesDecision, of version: UTF8Key, at time: Timestamp) {
        if version != self.version { self = RulesDenials(version: version) }
        let reason = Reason(method: decision.method, line: decision.denials?.last?.statement.line)
        denied[reason, default: Denied(reason: reason, count: 0, lastTime: time)].count += 1
        denied[reason]?.lastTime = time
    }

    private init(version: UTF8Key) {
        self.version = version
    }

    init() {}
}

internal import DocumentModel
internal import UTF8Text

/// The variable `request`. Its members become values of the language when rules name them.
struct RequestVariable: Sendable {
    /// The signed-in user; null without one.
    let authentication: RuleValue
    let method: RequestMethod
    let path: RequestPath
    let time: Timestamp
    let operationPart: OperationPart

    /// The member that only some operations have.
    enum OperationPart: Sendable {
        case none
        case query(RuleValue)
        /// The document as it would be stored; null for a deletion.
        case resource(ResourceVariable)
    }

    /// The member with a name; `nil` if there is none.
    subscript(name: UTF8Key) -> RuleValue? {
        switch name {
        case "auth": authentication
        case "method": .string(UTF8Key(method.rawValue))
        case "path": path.value
        case "time": .timestamp(RuleTimestamp(time))
        case "query": if case .query(let query) = operationPart { query } else { nil }
        case "resource": if case .resource(let resource) = operationPart { resource.value } else { nil }
        default: nil
        }
    }

    /// The variable as a whole.
    var value: RuleValue {
        let names: [UTF8Key] = ["auth", "method", "path", "query", "resource", "time"]
        return .map(RuleMap(names.compactMap { name in self[name].map { (key: name, value: $0) } }, isMeasured: false))
    }
}

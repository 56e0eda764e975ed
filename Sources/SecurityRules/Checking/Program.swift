internal import UTF8Text

/// Checked rules in the form that is evaluated: nodes in one array, in which names are replaced by indices.
///
/// A class, so that an evaluation does not retain each of its parts.
final class Program: Sendable {
    /// The index of a function.
    struct FunctionID: Hashable, Sendable {
        let index: Int
    }

    /// A function of the file.
    struct Function: Sendable {
        var name: Identifier
        var parameterCount: Int
        /// The values of the bindings, in order; they follow the parameters in the frame.
        var bindings: [NodeID] = []
        var result: NodeID?
    }

    /// An allow statement, for one method.
    struct Allow: Sendable {
        /// The index of the path of its match block.
        var pattern: Int
        /// The condition; `nil` if there is none.
        var condition: NodeID?
        /// The position of the statement.
        var position: SourcePosition
    }

    let source: SourceText
    let nodes: [Node]
    let ranges: [SourceRange]
    let functions: [Function]
    let patterns: [PathPattern]
    /// The allow statements by method, in the order of the text.
    let allows: [RequestMethod: [Allow]]
    /// The fields of the document that the rules of a get use; `nil` for all.
    let fieldsForGet: [UTF8Key]?

    init(_ draft: ProgramDraft) {
        source = draft.source
        nodes = draft.nodes
        ranges = draft.ranges
        functions = draft.functions
        patterns = draft.patterns
        allows = draft.allows
        fieldsForGet = draft.resourceFields(of: .get)
    }

    /// The position of a node in the file.
    func position(of node: NodeID) -> SourcePosition {
        source.position(of: ranges[node.index])
    }
}

extension Program {
    /// An operation, with its operands as nodes.
    enum Node: Sendable {
        case literal(RuleValue)
        /// A parameter or binding, by its index in the frame of the function.
        case local(Int)
        /// The part of the path that a wildcard matched, by the wildcard's index in the path of the match block.
        case capture(Int)
        case request
        case resource
        case unresolvedVariable(String)
        case list([NodeID])
        case map([(key: UTF8Key, value: NodeID)])
        case path([PathPart])
        case member(NodeID, UTF8Key)
        case index(NodeID, NodeID)
        case slice(NodeID, from: NodeID, to: NodeID)
        case not(NodeID)
        case negative(NodeID)
        case binary(BinaryOperator, NodeID, NodeID)
        case and(NodeID, NodeID)
        case or(NodeID, NodeID)
        case conditional(NodeID, then: NodeID, else: NodeID)
        case typeTest(NodeID, RuleType)
        case functionCall(FunctionID, [NodeID])
        case globalCall(GlobalFunction, [NodeID])
        case packageCall(PackageFunction, [NodeID])
        /// A call of a function of a value; the regular expression is compiled if it is constant.
        case valueCall(ValueFunction, NodeID, [NodeID], RegularExpression?)
        /// A call of a function that does not exist.
        case unresolvedCall(String)
    }

    /// A segment of a path literal.
    enum PathPart: Sendable {
        case literal(UTF8Key)
        case expression(NodeID)
    }
}

extension Program.Node {
    /// The operands.
    var operands: [NodeID] {
        switch self {
        case .literal, .local, .capture, .request, .resource, .unresolvedVariable, .unresolvedCall: []
        case .list(let elements): elements
        case .map(let entries): entries.map(\.value)
        case .path(let parts):
            parts.compactMap { part in
                if case .expression(let node) = part { node } else { nil }
            }
        case .member(let base, _), .not(let base), .negative(let base), .typeTest(let base, _): [base]
        case .index(let left, let right), .binary(_, let left, let right), .and(let left, let right), .or(let left, let right):
            [left, right]
        case .slice(let base, let from, let to): [base, from, to]
        case .conditional(let condition, let then, let otherwise): [condition, then, otherwise]
        case .functionCall(_, let arguments), .globalCall(_, let arguments), .packageCall(_, let arguments): arguments
        case .valueCall(_, let base, let arguments, _): [base] + arguments
        }
    }
}

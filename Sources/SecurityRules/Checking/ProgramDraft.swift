internal import UTF8Text

/// A program while it is compiled.
struct ProgramDraft: Sendable {
    let source: SourceText
    var nodes: [Program.Node] = []
    var ranges: [SourceRange] = []
    var functions: [Program.Function] = []
    var patterns: [PathPattern] = []
    var allows: [RequestMethod: [Program.Allow]] = [:]

    init(source: SourceText) {
        self.source = source
    }

    /// Appends a node.
    mutating func append(_ node: Program.Node, at range: SourceRange) -> NodeID {
        nodes.append(node)
        ranges.append(range)
        return NodeID(index: nodes.count - 1)
    }

    /// Returns the nodes that the allow statements of a method can evaluate.
    func reachableNodes(of method: RequestMethod) -> Set<NodeID> {
        var pending = (allows[method] ?? []).compactMap(\.condition)
        var reached = Set<NodeID>()
        while let node = pending.popLast() {
            guard reached.insert(node).inserted else { continue }
            pending += nodes[node.index].operands
            if case .functionCall(let function, _) = nodes[node.index] {
                pending += functions[function.index].bindings
                pending += [functions[function.index].result].compactMap(\.self)
            }
        }
        return reached
    }

    /// Returns the names of the fields of `resource.data` that the allow statements of a method use, in ascending order; `nil` if
    /// they may use any, since an expression has the document or all of its fields as a value.
    func resourceFields(of method: RequestMethod) -> [UTF8Key]? {
        var names = Set<UTF8Key>()
        /// The nodes whose values are used only for a member.
        var bases = Set<NodeID>()
        var wholes: [NodeID] = []
        for node in reachableNodes(of: method) {
            switch nodes[node.index] {
            case .member(let base, let name):
                bases.insert(base)
                if isResourceData(base) { names.insert(name) }
                if isResourceData(node) { wholes.append(node) }
            case .resource:
                wholes.append(node)
            default:
                break
            }
        }
        return wholes.allSatisfy(bases.contains) ? names.sorted() : nil
    }

    /// Returns whether a node is `resource.data`.
    func isResourceData(_ node: NodeID) -> Bool {
        guard case .member(let base, "data") = nodes[node.index], case .resource = nodes[base.index] else { return false }
        return true
    }
}

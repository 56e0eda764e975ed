internal import DocumentModel

/// The documents that one evaluation has read, counted by path: a repeat is free.
struct AccessCounter: Sendable {
    /// The paths of the operations before this one in the same request.
    let earlier: Set<DocumentPath>
    let limit: Int
    private(set) var paths = Set<DocumentPath>()
    /// The accesses in the order of their first appearance.
    private(set) var accesses: [DocumentAccess] = []

    init(earlier: Set<DocumentPath>, limit: Int) {
        self.earlier = earlier
        self.limit = limit
    }

    mutating func count(_ access: DocumentAccess) throws(EvaluationError) {
        if !paths.contains(access.path) {
            guard paths.count < RulesLimits.accessesPerOperation else {
                throw EvaluationError(.accessLimit(RulesLimits.accessesPerOperation))
            }
            guard earlier.contains(access.path) || earlier.union(paths).count < limit else {
                throw EvaluationError(.accessLimit(limit))
            }
            paths.insert(access.path)
        }
        if !accesses.contains(access) { accesses.append(access) }
    }
}

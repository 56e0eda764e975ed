internal import DocumentModel
internal import StrictJSON

extension IndexSnapshot {
    /// Where rows of a target are.
    struct Space {
        let number: Int64
        /// What stands before the names there.
        var prefix: [UInt8] = []
    }

    /// The spaces that a target's rows are in; none where there is no such collection or field.
    func spaces(of target: IndexTarget, _ subject: IndexScan.Subject) throws -> [Space] {
        let slot: Int64?
        switch subject {
        case .documents: slot = nil
        case .values(of: let path):
            guard let field = try field(path) else { return [] }
            slot = IndexSpace.slot(field: field, kind: .value)
        case .elements(of: let path):
            guard let field = try field(path) else { return [] }
            slot = IndexSpace.slot(field: field, kind: .element)
        case .composite(let fields):
            guard let number = try numbers.composite(fields, making: false, in: database) else { return [] }
            slot = IndexSpace.slot(field: number, kind: .value)
        }
        return try scopes(of: target).map { scope in
            Space(number: slot.map { IndexSpace(scope: scope.number, slot: $0).number } ?? scope.number, prefix: scope.prefix)
        }
    }

    private func scopes(of target: IndexTarget) throws -> [Space] {
        switch target {
        case .collection(let path):
            return try scope(IndexNumbers.name(of: path)).map { [Space(number: $0)] } ?? []
        case .group(let id, below: let parent):
            var scopes: [Space] = []
            if let nested = try scope(IndexNumbers.name(ofGroup: id)) { scopes.append(Space(number: nested)) }
            // A collection at the top is below no document.
            let top = CollectionPath(parent: nil, id: id)
            if parent == nil, let own = try scope(IndexNumbers.name(of: top)) {
                scopes.append(Space(number: own, prefix: NameKey(top).bytes))
            }
            return scopes
        case .all:
            return [Space(number: IndexNumbers.all)]
        }
    }

    private func scope(_ name: UTF8Key) throws -> Int64? {
        try numbers.scope(name, making: false, in: database)
    }

    private func field(_ path: FieldPath) throws -> Int64? {
        try numbers.field(path, making: false, in: database)
    }

    /// What queries of the collections with an ID can count on.
    ///
    /// - Parameter collection: Nil for those of all collections together.
    func rules(of collection: CollectionID?) throws(StatusError) -> IndexRules {
        guard let collection else { return .namesOnly }
        return try failing { () throws in try IndexRuleState.of(collection, database)?.ready ?? IndexRules() }
    }
}

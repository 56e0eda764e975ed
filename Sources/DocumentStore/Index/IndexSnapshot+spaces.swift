internal import DocumentModel
internal import StrictJSON

extension IndexSnapshot {
    /// A part of the index that has documents of a target.
    struct Scope {
        let number: Int64
        /// What stands before the names there.
        var prefix: [UInt8] = []

        /// What the entries of a slot are in.
        func space(_ slot: Int64) -> Int64 { IndexSpace(scope: number, slot: slot).number }
    }

    /// The scopes that a target's documents are in; none where there is no such collection.
    func scopes(of target: IndexTarget) throws -> [Scope] {
        switch target {
        case .collection(let path):
            return try scope(IndexNumbers.name(of: path)).map { [Scope(number: $0)] } ?? []
        case .group(let id, below: let parent):
            var scopes: [Scope] = []
            if let nested = try scope(IndexNumbers.name(ofGroup: id)) { scopes.append(Scope(number: nested)) }
            // A collection at the top is below no document.
            let top = CollectionPath(parent: nil, id: id)
            if parent == nil, let own = try scope(IndexNumbers.name(of: top)) {
                scopes.append(Scope(number: own, prefix: NameKey(top).bytes))
            }
            return scopes
        case .all:
            return [Scope(number: IndexNumbers.all)]
        }
    }

    /// A space of a target's rows.
    struct Space {
        let scope: Scope
        let number: Int64
    }

    /// The spaces that a target's rows are in; none where there is no such collection or field.
    func spaces(of target: IndexTarget, _ subject: IndexScan.Subject) throws -> [Space] {
        if subject == .documents { return try scopes(of: target).map { Space(scope: $0, number: $0.number) } }
        guard let slot = try slot(of: subject) else { return [] }
        return try scopes(of: target).map { Space(scope: $0, number: $0.space(slot)) }
    }

    /// The slot of what has entries; nil where no document has such a field.
    func slot(of subject: IndexScan.Subject) throws -> Int64? {
        switch subject {
        case .documents: nil
        case .values(of: let path): try field(path).map { IndexSpace.slot(field: $0, kind: .value) }
        case .elements(of: let path): try field(path).map { IndexSpace.slot(field: $0, kind: .element) }
        case .composite(let fields):
            try numbers.composite(fields, making: false, in: database).map { IndexSpace.slot(field: $0, kind: .value) }
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

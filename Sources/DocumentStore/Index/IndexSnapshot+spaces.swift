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

    /// The IDs that collections below documents have, or once had.
    func nestedGroups() throws(StatusError) -> [CollectionID] {
        try failing { () throws in
            let statement = try IndexStatement(
                "SELECT name FROM scopes WHERE name >= ?1 AND name < ?2",
                database
            )
            defer { statement.reset() }
            // No path begins with a slash.
            statement.bind([UInt8(ascii: "/")], at: 1)
            statement.bind([UInt8(ascii: "/") + 1], at: 2)
            var groups: [CollectionID] = []
            while try statement.step() {
                let id = String(validating: statement.bytes(0).dropFirst(), as: UTF8.self)
                if let group = id.flatMap({ try? CollectionID($0) }) { groups.append(group) }
            }
            return groups
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
        }
    }

    private func scope(_ name: UTF8Key) throws -> Int64? {
        try numbers.scope(name, making: false, in: database)
    }

    private func field(_ path: FieldPath) throws -> Int64? {
        try numbers.field(path, making: false, in: database)
    }

    /// What queries of the collections with an ID can count on.
    func rules(of collection: CollectionID) throws(StatusError) -> IndexRules {
        try failing { () throws in try IndexRuleState.of(collection, database)?.ready ?? IndexRules() }
    }
}

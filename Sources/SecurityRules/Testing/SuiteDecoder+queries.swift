internal import DocumentModel
internal import StrictJSON
internal import UTF8Text

extension SuiteDecoder {
    /// Decodes a query.
    ///
    /// - Parameter node: The members of the query; `nil` for one without any.
    static func query(_ node: SuiteNode?, of source: StructuredQuery.Source) throws(StatusError) -> ListQuery {
        var query = StructuredQuery(source)
        guard let node else { return try ListQuery(query) }
        try node.checkMembers([
            "collectionGroup", "allDescendants", "where", "orderBy", "startAt", "startAfter", "endAt", "endBefore", "offset",
            "limit", "limitToLast", "select",
        ])
        query.filter = try node.nonNull("where").map { filter throws(StatusError) in try Self.filter(filter) }
        query.orders = try node.nonNull("orderBy").map { orders throws(StatusError) in try Self.orders(orders) } ?? []
        query.start = try cursor(node, "startAt", "startAfter")
        query.end = try cursor(node, "endAt", "endBefore")
        query.offset = try node.nonNull("offset")?.count() ?? 0
        query.limit = try node.nonNull("limit").map { limit throws(StatusError) in .first(try limit.count()) }
        if let limit = node.nonNull("limitToLast") {
            guard query.limit == nil else { throw limit.error("Expected either limit or limitToLast.") }
            query.limit = .last(try limit.count())
        }
        for field in try node.nonNull("select")?.elements() ?? [] { query.projection.append(try field.fieldPath()) }
        return try node.locating { () throws(StatusError) in try ListQuery(query) }
    }

    private static func filter(_ node: SuiteNode) throws(StatusError) -> QueryFilter {
        try node.checkMembers(["field", "op", "value", "and", "or"])
        for (key, combine) in [("and", QueryFilter.and), ("or", QueryFilter.or)] as [(UTF8Key, ([QueryFilter]) -> QueryFilter)] {
            guard let list = node[key] else { continue }
            guard node.json.count == 1 else { throw node.error("Expected one of {field, op, value}, {and} and {or}.") }
            var filters: [QueryFilter] = []
            for element in try list.elements() { filters.append(try filter(element)) }
            return combine(filters)
        }
        return .field(try node.required("field").fieldPath(), try condition(node))
    }

    private static func condition(_ node: SuiteNode) throws(StatusError) -> Condition {
        let operand = try node.required("value")
        switch try node.required("op").named(Condition.Operator.self) {
        case .equal: return .equal(try operand.value())
        case .notEqual: return .notEqual(try operand.value())
        case .less: return .less(try operand.value())
        case .lessOrEqual: return .lessOrEqual(try operand.value())
        case .greater: return .greater(try operand.value())
        case .greaterOrEqual: return .greaterOrEqual(try operand.value())
        case .in: return .in(try values(operand))
        case .notIn: return .notIn(try values(operand))
        case .arrayContains: return .arrayContains(try operand.value())
        case .arrayContainsAny: return .arrayContainsAny(try values(operand))
        case .near:
            try operand.checkMembers(["center", "radius"])
            let center = try point(operand.required("center"))
            let radius = try number(operand.required("radius"))
            return .near(try operand.locating { () throws(StatusError) in try GeoCircle(center: center, radius: radius) })
        case .within:
            try operand.checkMembers(["southWest", "northEast"])
            let southWest = try point(operand.required("southWest"))
            let northEast = try point(operand.required("northEast"))
            return .within(
                try operand.locating { () throws(StatusError) in try GeoBox(southWest: southWest, northEast: northEast) }
            )
        }
    }

    private static func values(_ node: SuiteNode) throws(StatusError) -> [Value] {
        var values: [Value] = []
        for element in try node.elements() { values.append(try element.value()) }
        return values
    }

    private static func point(_ node: SuiteNode) throws(StatusError) -> GeoPoint {
        guard case .geoPoint(let point) = try node.value() else { throw node.expected("a value tagged $geoPoint") }
        return point
    }

    private static func number(_ node: SuiteNode) throws(StatusError) -> Double {
        switch try node.value() {
        case .integer(let number): return Double(number)
        case .double(let number): return number
        default: throw node.expected("a number")
        }
    }

    private static func orders(_ node: SuiteNode) throws(StatusError) -> [StructuredQuery.Order] {
        var orders: [StructuredQuery.Order] = []
        if node.json.kind == .object {
            // The form that rules see.
            for (field, direction) in try node.members() {
                let field = try direction.locating { () throws(StatusError) in try FieldPath(field.string) }
                let name = try direction.named(OrderName.self)
                orders.append(StructuredQuery.Order(.field(field), name == .ascending ? .ascending : .descending))
            }
            return orders
        }
        for element in try node.elements() {
            try element.checkMembers(["field", "direction", "distanceFrom"])
            let field = try element.required("field").fieldPath()
            let center = try element.nonNull("distanceFrom").map { center throws(StatusError) in try point(center) }
            let direction = try element.nonNull("direction")?.named(DirectionName.self) ?? .ascending
            orders.append(
                StructuredQuery.Order(
                    center.map { .distance(of: field, from: $0) } ?? .field(field),
                    direction == .ascending ? .ascending : .descending
                )
            )
        }
        return orders
    }

    private static func cursor(
        _ query: SuiteNode,
        _ inclusive: UTF8Key,
        _ exclusive: UTF8Key
    ) throws(StatusError) -> StructuredQuery.Cursor? {
        guard let node = query.nonNull(inclusive) ?? query.nonNull(exclusive) else { return nil }
        if query.nonNull(inclusive) != nil, query.nonNull(exclusive) != nil {
            throw node.error("Expected either \(inclusive) or \(exclusive).")
        }
        try node.checkMembers(["values"])
        return StructuredQuery.Cursor(try values(node.required("values")), isInclusive: query.nonNull(inclusive) != nil)
    }

    /// The directions of `orderBy` in Hearth's API.
    private enum DirectionName: String, CaseIterable {
        case ascending = "asc"
        case descending = "desc"
    }

    /// The directions of `request.query.orderBy` in rules.
    private enum OrderName: String, CaseIterable {
        case ascending = "ASC"
        case descending = "DESC"
    }
}

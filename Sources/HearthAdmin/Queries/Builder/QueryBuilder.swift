import DocumentModel
import HearthAPI
import UTF8Text

/// A query as filled in on the form of the query builder, with the errors of its fields.
///
/// The form uses GET, so the URL of the page is the query: `in=books&g=0&f=author&op=%3D%3D&t=string&v=Peter&o=title&limit=20`. Each
/// row of filters and orders has one item of each name.
struct QueryBuilder: Sendable {
    /// A group of filters.
    struct Group: Sendable {
        /// True if one of the filters suffices; false if all of them must match.
        var isDisjunction = false
        var rows: [FilterRow] = []
    }

    /// A row of the sort order.
    struct OrderRow: Sendable {
        /// The directions: by value, or by the distance from a point.
        enum Direction: String, CaseIterable, Sendable {
            case ascending = "asc"
            case descending = "desc"
            case nearest
            case farthest

            var isByDistance: Bool { self == .nearest || self == .farthest }
        }

        var field = ""
        var direction = Direction.ascending
        /// Latitude and longitude of the point that distances are measured from.
        var point = ""
        var error: String?

        var isBlank: Bool { field.utf8.isEmpty && point.utf8.isEmpty }
    }

    /// The path of the collection, or the ID of the collection group.
    var collection = ""
    var isGroup = false
    /// The groups: first the filters outside of groups, and how they and the groups are combined; then the groups.
    var groups = [Group()]
    var orders: [OrderRow] = []
    var limit = ""
    var offset = ""
    var collectionError: String?
    var limitError: String?
    var offsetError: String?
    /// The error of the filters as a whole.
    var filterError: String?
    /// The error that concerns no field of the form.
    var otherError: String?

    static let maximumGroupCount = 6
    static let maximumOrderCount = 6

    init() {}

    /// Creates the query of a collection page.
    init(_ request: CollectionRequest) {
        collection = request.path.string
        groups[0].rows = request.filters.filter { !$0.isBlank }
        orders = request.orders.map { order in
            OrderRow(field: FieldPathText.text(order.field), direction: order.isDescending ? .descending : .ascending)
        }
        limit = String(request.size.count)
    }

    /// True if no field has an error.
    var isValid: Bool {
        [collectionError, limitError, offsetError, filterError, otherError].allSatisfy { $0 == nil }
            && groups.allSatisfy { $0.rows.allSatisfy { $0.error == nil } } && orders.allSatisfy { $0.error == nil }
    }

    /// The collections of the query; `nil` if the path or the ID is invalid.
    var source: StructuredQuery.Source? {
        isGroup
            ? (try? CollectionID(collection)).map { .collectionGroup($0, below: nil) }
            : (try? CollectionPath(collection)).map { .collection($0) }
    }
}

// The URL.
extension QueryBuilder {
    /// The URL of the page with the query.
    var url: String { AdminURL.query + AdminURL.query(items) }

    /// The items of the page's URL, without blank rows.
    private var items: [(name: StaticString, value: UTF8Key)] {
        var items: [(name: StaticString, value: UTF8Key)] = []
        if isGroup { items.append(("scope", "group")) }
        items.append(("in", UTF8Key(collection)))
        for (index, group) in groups.enumerated() {
            if groups.count > 1 || group.isDisjunction { items.append(("m", group.isDisjunction ? "any" : "all")) }
            for row in group.rows where !row.isBlank {
                let row = row.escaped
                items.append(("g", UTF8Key(String(index))))
                items.append(("f", UTF8Key(row.field)))
                items.append(("op", UTF8Key(row.operatorName)))
                items.append(("t", UTF8Key(row.operand.kind.rawValue)))
                items.append(("v", UTF8Key(row.operand.text)))
            }
        }
        for order in orders where !order.isBlank {
            items.append(("o", UTF8Key(order.field)))
            items.append(("d", UTF8Key(order.direction.rawValue)))
            items.append(("p", UTF8Key(order.point)))
        }
        if !limit.utf8.isEmpty { items.append(("limit", UTF8Key(limit))) }
        if !offset.utf8.isEmpty { items.append(("offset", UTF8Key(offset))) }
        return items
    }

    /// Reads the items of a URL; returns `nil` if it has no collection.
    init?(_ query: URLQuery) {
        guard let collection = query["in"] else { return nil }
        self.collection = FormTextCoding.trimmed(collection.string)
        isGroup = query["scope"] == "group"
        groups = query.values(of: "m").prefix(1 + Self.maximumGroupCount).map { Group(isDisjunction: $0 == "any") }
        if groups.isEmpty { groups = [Group()] }
        readFilters(query)
        readOrders(query)
        limit = FormTextCoding.trimmed(query["limit"]?.string ?? "")
        offset = FormTextCoding.trimmed(query["offset"]?.string ?? "")
    }

    private mutating func readFilters(_ query: URLQuery) {
        let (ops, kinds, values) = (query.values(of: "op"), query.values(of: "t"), query.values(of: "v"))
        let indices = query.values(of: "g")
        var count = 0
        for (index, field) in query.values(of: "f").enumerated() {
            var row = FilterRow(
                field: field.string,
                op: ops.text(at: index),
                kind: kinds.text(at: index),
                text: values.text(at: index)
            )
            count += row.isBlank ? 0 : 1
            if count > CollectionRequest.maximumFilterCount {
                row.error = "A query on this page has at most \(CollectionRequest.maximumFilterCount) filters. Remove this one."
            }
            let group = Int(indices.text(at: index)) ?? 0
            groups[groups.indices.contains(group) ? group : 0].rows.append(row)
        }
    }

    private mutating func readOrders(_ query: URLQuery) {
        let (directions, points) = (query.values(of: "d"), query.values(of: "p"))
        for (index, field) in query.values(of: "o").enumerated() {
            let name = directions.text(at: index)
            let direction = OrderRow.Direction.allCases.first { UTF8Key($0.rawValue) == UTF8Key(name) }
            var row = OrderRow(field: field.string, direction: direction ?? .ascending, point: points.text(at: index))
            if direction == nil, !name.utf8.isEmpty { row.error = "Unknown direction \(Excerpt(name))." }
            if index >= Self.maximumOrderCount {
                row.error = "A query on this page has at most \(Self.maximumOrderCount) sort fields. Remove this one."
            }
            orders.append(row)
        }
    }
}

extension [UTF8Key] {
    /// Returns the text at an index; an empty string if there is none.
    fileprivate func text(at index: Int) -> String { indices.contains(index) ? self[index].string : "" }
}

// Changes.
extension QueryBuilder {
    /// Removes blank rows and groups, and gives operands without a type one.
    ///
    /// - Parameter types: Returns the types of a field's values.
    /// - Returns: Whether the query has changed.
    mutating func normalize(types: (FieldPath) async -> FieldTypes) async -> Bool {
        var hasChanged = false
        for group in groups.indices {
            let count = groups[group].rows.count
            groups[group].rows.removeAll(where: \.isBlank)
            hasChanged = hasChanged || groups[group].rows.count < count
            for (index, row) in groups[group].rows.enumerated() where row.operand.kind == .automatic && row.error == nil {
                guard let field = try? FieldPathText.path(row.field) else { continue }
                groups[group].rows[index] = row.resolvingType(fitting: await types(field))
                hasChanged = true
            }
        }
        let (groupCount, orderCount) = (groups.count, orders.count)
        groups = groups.enumerated().filter { $0.offset == 0 || !$0.element.rows.isEmpty }.map(\.element)
        orders.removeAll(where: \.isBlank)
        return hasChanged || groups.count < groupCount || orders.count < orderCount
    }

    /// Applies the button of the form that adds or removes a row; returns `nil` if the form was submitted otherwise.
    func edited(by query: URLQuery) -> QueryBuilder? {
        var builder = self
        func number(_ name: UTF8Key) -> Int? { query[name].flatMap { UInt16($0.string) }.map { Int($0) } }
        if let index = number("remove") {
            builder.removeFilter(at: index)
        } else if let index = number("unorder") {
            if builder.orders.indices.contains(index) { builder.orders.remove(at: index) }
        } else if let group = number("add") {
            if builder.groups.indices.contains(group) { builder.groups[group].rows.append(FilterRow()) }
        } else if query["group"] != nil {
            builder.addGroup()
        } else if query["order"] != nil {
            builder.orders.append(OrderRow())
        } else {
            return nil
        }
        return builder
    }

    /// Removes a row of filters, counted through all groups.
    private mutating func removeFilter(at index: Int) {
        var index = index
        for group in groups.indices {
            let count = groups[group].rows.count
            if groups[group].rows.indices.contains(index) {
                groups[group].rows.remove(at: index)
                if group > 0, groups[group].rows.isEmpty { groups.remove(at: group) }
                return
            }
            index -= count
        }
    }

    /// Adds a group that is combined in the other way than the filters outside of groups.
    private mutating func addGroup() {
        guard groups.count <= Self.maximumGroupCount else { return }
        groups.append(Group(isDisjunction: !groups[0].isDisjunction, rows: [FilterRow(), FilterRow()]))
    }
}

package import DocumentModel

/// Answers queries by looking at every document: Firestore's rules once more, in the plainest form that they have.
///
/// It shares nothing with the query model but the types that state questions and values: it has its own order of values, its
/// own geometry, and its own reading of the rules. It expects a query that is valid.
package struct BruteForce: Sendable {
    package let documents: [Document]

    package init(_ documents: [Document]) {
        self.documents = documents
    }

    /// A document of a result.
    package struct Found: Sendable {
        package let path: DocumentPath
        /// What the query wants of its fields.
        package let fields: MapValue
        /// How far it is, for a search of vectors.
        package let distance: Double?
    }

    /// What the query gives, in order.
    package func run(_ query: Query) -> [Found] {
        let found = documents(of: query, aggregating: [])
        guard let search = query.vectorSearch else {
            return found.map { Found(path: $0.path, fields: query.projected($0.fields), distance: nil) }
        }
        var near: [(document: Document, distance: Double)] = []
        for document in found {
            guard let distance = search.plainDistance(document.fields) else { continue }
            near.append((document, distance))
        }
        near.sort { search.measure == .dotProduct ? $0.distance > $1.distance : $0.distance < $1.distance }
        return near.prefix(search.limit).map { document, distance in
            var fields = document.fields
            if let field = search.distanceField { fields.set(.double(distance), at: field) }
            return Found(path: document.path, fields: query.projected(fields), distance: distance)
        }
    }

    /// The numbers that the aggregations make of what the query gives, in their order.
    package func aggregate(_ aggregations: [Aggregation], of query: Query) -> [Value] {
        let fields = aggregations.compactMap(\.operation.field)
        let found = documents(of: query, aggregating: fields).filter { document in
            fields.allSatisfy { document.fields[$0] != nil }
        }
        return aggregations.map { aggregation in
            switch aggregation.operation {
            case .count(let end): .integer(Int64(min(found.count, end ?? .max)))
            case .sum(let field): PlainSum(found.map { $0.fields[field] }).sum
            case .average(let field): PlainSum(found.map { $0.fields[field] }).average
            }
        }
    }

    /// Filter, order, cursors, offset and limit, in this sequence.
    private func documents(of query: Query, aggregating fields: [FieldPath]) -> [Document] {
        let orders = query.fullOrders(aggregating: fields)
        var found = documents.filter { document in
            query.source.holds(document.path)
                && query.filter.map { $0.isFulfilled(by: document, in: query.source) } != false
                && orders.allSatisfy { document.plainValue($0.key) != nil }
                && fields.allSatisfy { document.fields[$0] != nil }
        }
        found.sort { left, right in
            for order in orders {
                guard let first = left.plainValue(order.key), let second = right.plainValue(order.key) else { continue }
                let result = PlainOrder.compare(first, second)
                if result != 0 { return order.direction == .ascending ? result < 0 : result > 0 }
            }
            return false
        }
        found = found.filter { document in
            query.start.map { $0.admits(document, orders, side: 1, in: query.source) } != false
                && query.end.map { $0.admits(document, orders, side: -1, in: query.source) } != false
        }
        switch query.limit {
        case nil: return Array(found.dropFirst(query.offset))
        case .first(let count): return Array(found.dropFirst(query.offset).prefix(count))
        case .last(let count): return Array(found.dropLast(query.offset).suffix(count))
        }
    }
}

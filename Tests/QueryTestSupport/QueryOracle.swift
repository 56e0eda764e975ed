package import DocumentModel

/// A test oracle for queries: an independent, brute-force implementation of Firestore's semantics.
///
/// It shares only the types of queries and values with the query model, and has its own value order, geometry and evaluation. The query
/// must be valid.
package struct QueryOracle: Sendable {
    package let documents: [Document]

    package init(_ documents: [Document]) {
        self.documents = documents
    }

    /// A document in a result.
    package struct Found: Sendable {
        package let path: DocumentPath
        /// The projected fields.
        package let fields: MapValue
        /// The distance, in a vector search.
        package let distance: Double?
    }

    /// Returns the result of a query.
    package func run(_ query: StructuredQuery) -> [Found] {
        let found = documents(of: query, aggregating: [])
        guard let search = query.vectorSearch else {
            return found.map { Found(path: $0.path, fields: query.projected($0.fields), distance: nil) }
        }
        var near: [(document: Document, distance: Double)] = []
        for document in found {
            guard let distance = search.oracleDistance(document.fields) else { continue }
            near.append((document, distance))
        }
        near.sort { search.measure == .dotProduct ? $0.distance > $1.distance : $0.distance < $1.distance }
        return near.prefix(search.limit).map { document, distance in
            var fields = document.fields
            if let field = search.distanceField { fields.set(.double(distance), at: field) }
            return Found(path: document.path, fields: query.projected(fields), distance: distance)
        }
    }

    /// Returns the results of aggregations over a query.
    package func aggregate(_ aggregations: [Aggregation], of query: StructuredQuery) -> [Value] {
        let fields = aggregations.compactMap(\.operation.field)
        let found = documents(of: query, aggregating: fields).filter { document in
            fields.allSatisfy { document.fields[$0] != nil }
        }
        return aggregations.map { aggregation in
            switch aggregation.operation {
            case .count(let end): .integer(Int64(min(found.count, end ?? .max)))
            case .sum(let field): OracleSum(found.map { $0.fields[field] }).sum
            case .average(let field): OracleSum(found.map { $0.fields[field] }).average
            }
        }
    }

    /// Applies filter, order, cursors, offset and limit, in this order.
    private func documents(of query: StructuredQuery, aggregating fields: [FieldPath]) -> [Document] {
        let orders = query.oracleOrders(aggregating: fields)
        var found = documents.filter { document in
            query.source.oracleContains(document.path)
                && query.filter.map { $0.oracleMatches(document, in: query.source) } != false
                && orders.allSatisfy { document.oracleValue($0.key) != nil }
                && fields.allSatisfy { document.fields[$0] != nil }
        }
        found.sort { left, right in
            for order in orders {
                guard let first = left.oracleValue(order.key), let second = right.oracleValue(order.key) else { continue }
                let result = OracleOrder.compare(first, second)
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

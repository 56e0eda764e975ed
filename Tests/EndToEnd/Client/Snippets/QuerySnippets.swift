import Foundation
import HearthClient

// Examples of the documentation; see MappingSnippets.

enum QuerySnippets {
    typealias Book = MappingSnippets.Book

    static func long(_ db: Firestore) async throws -> (query: Query, books: [Book]) {
        let long = db.collection("books")
            .whereField("author", isEqualTo: "Douglas Adams")
            .whereField("numberOfPages", isGreaterThan: 200)
            .order(by: "numberOfPages", descending: true)
            .limit(to: 10)
        let books = try await long.getDocuments().documents.compactMap { try? $0.data(as: Book.self) }
        return (long, books)
    }

    static func either(_ db: Firestore) -> Query {
        let either = db.collection("books").whereFilter(
            .orFilter([
                .whereField("genres", arrayContains: "Comedy"),
                .andFilter([
                    .whereField("numberOfPages", isLessThan: 100),
                    .whereField("author", in: ["Douglas Adams", "Terry Pratchett"]),
                ]),
            ])
        )
        return either
    }

    static func next(_ long: Query) async throws -> [QueryDocumentSnapshot] {
        let first = try await long.getDocuments()
        guard let last = first.documents.last else { return [] }
        let next = try await long.start(afterDocument: last).getDocuments()
        return next.documents
    }

    static func reviews(_ db: Firestore) async throws -> Int {
        let reviews = db.collectionGroup("reviews").whereField("stars", isGreaterThanOrEqualTo: 4)

        let numbers = try await reviews.aggregate([.count(), .average("stars")]).getAggregation(source: .server)
        print(numbers.count, numbers.get(.average("stars")))

        return numbers.count.intValue
    }

    static func geoAndVectors(_ db: Firestore) -> [Query] {
        let hamburg = GeoPoint(latitude: 53.55, longitude: 9.99)
        let offices = db.collection("locations")
            .whereField("location", isNear: hamburg, radius: 1_000_000)
            .order(byDistanceOf: "location", from: hamburg)

        let similar = db.collection("books").findNearest(
            field: "embedding",
            vectorValue: FieldValue.vector([0.1, 0.8, 0.3]),
            distanceMeasure: .cosine,
            limit: 5
        )
        return [offices, similar]
    }

    static func listen(_ long: Query) async throws {
        for try await snapshot in long.snapshots {
            for change in snapshot.documentChanges where change.type == .added {
                print("\(change.document.documentID) is number \(change.newIndex + 1) now")
            }
        }
    }
}

import Foundation
import HearthClient

// The types of the guide to mapping documents.

struct Book: Codable, Equatable {
    @DocumentID var id: String?
    var title: String
    var numberOfPages: Int
    var author: String
}

struct BookWithCoverImages: Codable, Equatable {
    @DocumentID var id: String?
    var title: String
    var cover: CoverImages?
    var color: Color

    struct CoverImages: Codable, Equatable {
        var small: URL
        var medium: URL
        var large: URL
    }
}

struct BookWithGenre: Codable, Equatable {
    @DocumentID var id: String?
    var title: String
    var genres: [String]
}

struct BookWithTags: Codable, Equatable {
    @DocumentID var id: String?
    var title: String
    var tags: [Tag]

    struct Tag: Codable, Hashable {
        var title: String
        var color: Color
    }
}

struct ColorEntry: Codable, Equatable, Identifiable {
    @DocumentID var id: String?
    var name: String
    var color: Color
}

struct Office: Codable, Equatable, Identifiable {
    @DocumentID var id: String?
    var name: String
    var location: GeoPoint
}

struct ProgrammingLanguage: Codable, Equatable, Identifiable {
    @DocumentID var id: String?
    var name: String
    var year: Date
    var reasonWhyILoveThis = ""

    enum CodingKeys: String, CodingKey {
        case id
        case name = "language_name"
        case year
    }
}

struct Article: Codable, Equatable, Identifiable {
    @DocumentID var id: String?
    var title: String
    var status: Status
    @ExplicitNull var subtitle: String?
    @ServerTimestamp var written: Date?

    enum Status: String, CaseIterable, Codable {
        case draft
        case inReview = "in review"
        case approved
        case published
    }
}

import HTTPTypes

/// A page: its content and the layout around it.
protocol Page: ViewModel {
    /// The template of the content.
    static var template: TemplateLibrary.Name { get }
    /// The HTTP status; 200 by default.
    var status: HTTPResponse.Status { get }
    /// The time after which the request can succeed, for an error; `nil` by default.
    var retryDelay: Duration? { get }
    /// The layout.
    var layout: PageLayout { get }
}

extension Page {
    var status: HTTPResponse.Status { .ok }
    var retryDelay: Duration? { nil }
}

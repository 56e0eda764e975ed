/// The data of a template: each stored property is a member, which the template looks up by the property's name.
///
/// ```swift
/// struct TypeCount: ViewModel {
///     let type: String
///     let isRare: Bool
/// }
/// ```
///
/// A member is a string, a number, a Boolean, ``Markup``, another view model, or an array or optional of these.
protocol ViewModel: Sendable {}

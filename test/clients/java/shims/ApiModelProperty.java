package io.swagger.annotations;

/** As {@link ApiModel}, for members. */
public @interface ApiModelProperty {
  String value() default "";

  boolean required() default false;

  String example() default "";
}
